#include "executor/data/CsvCells.h"

#include <algorithm>

#include "executor/base/Utf8.h"

namespace lstmc::data {

/// Bytes of a file that are read at once.
constexpr uint64_t kBlock = 1 << 20;
/// The longest character in UTF-8. The two bytes after a quote that tell what it means are fewer.
constexpr size_t kLongest = 4;

Status CsvCells::begin() {
  at_ = {};
  if (bytes_.inMemory()) {
    LSTMC_ASSIGN(std::span<const uint8_t> all, bytes_.read(0, bytes_.size(), block_));
    text_ = asText(all);
    read_ = bytes_.size();
  } else {
    text_ = {};
    read_ = 0;
    LSTMC_TRY(readOn());
  }
  if (text_.starts_with("\xef\xbb\xbf")) {
    at_.position = 3;
    at_.lineBegin = at_.counted = 3;
  }
  return {};
}

Result<CsvCell> CsvCells::next() {
  column(); // counts up to here, as readOn needs it
  while (true) {
    const At begin = at_;
    cut_ = false;
    Result<CsvCell> cell = scan();
    if (!cut_)
      return cell;
    at_ = begin;
    LSTMC_TRY(readOn());
  }
}

Status CsvCells::readOn() {
  const size_t kept = text_.size() - at_.position;
  std::copy(block_.begin() + int64_t(at_.position), block_.end(), block_.begin());
  // As much again as a cell has already, so that long cells are not scanned often.
  const uint64_t more = std::min(std::max<uint64_t>(kBlock, kept), bytes_.size() - read_);
  block_.resize(kept + more);
  LSTMC_TRY(bytes_.readTo(read_, std::span(block_).subspan(kept)));
  read_ += more;
  text_ = asText(block_);
  at_.lineBegin -= int64_t(at_.position);
  at_.counted -= int64_t(at_.position);
  at_.position = 0;
  return {};
}

Result<CsvCell> CsvCells::scan() {
  CsvCell cell{{}, at_.line, column(), false};
  LSTMC_TRY(!atEnd() && text_[at_.position] == '"' ? quoted(cell) : unquoted(cell));
  if (!atEnd() && text_[at_.position] == ',') {
    ++at_.position;
  } else {
    cell.last = true;
    if (!atEnd())
      newLine(at_.position++);
  }
  cut_ |= atEnd() && !isWhole();
  return cell;
}

/// Column of `position`, counted on from the last call, so that a line is scanned only once.
int CsvCells::column() {
  if (at_.counted < at_.lineBegin) {
    at_.counted = at_.lineBegin;
    at_.column = 1;
  }
  for (; at_.counted < int64_t(at_.position); ++at_.counted)
    at_.column += (uint8_t(text_[size_t(at_.counted)]) & 0xc0) != 0x80;
  return at_.column;
}

Status CsvCells::checkLine(size_t end, const CsvCell &cell) const {
  if (int64_t(end) - at_.lineBegin > 0 && uint64_t(int64_t(end) - at_.lineBegin) > limits_->csvLine)
    return failAt({*file_, cell.line, cell.column}, ErrorCode::E0606,
                  "line: found more than {} bytes (limit csv-line)", limits_->csvLine);
  return {};
}

Status CsvCells::unquoted(CsvCell &cell) {
  const size_t end = std::min(text_.find_first_of(",\n", at_.position), text_.size());
  LSTMC_TRY(checkLine(end, cell));
  cut_ = end == text_.size() && !isWhole();
  if (cut_)
    return {};
  cell.text = text_.substr(at_.position, end - at_.position);
  at_.position = end;
  bool lastOfLine = atEnd() || text_[end] == '\n';
  if (lastOfLine && cell.text.ends_with('\r'))
    cell.text.remove_suffix(1);
  return checkText(cell);
}

Status CsvCells::checkText(const CsvCell &cell) const {
  size_t i = 0;
  while (i < cell.text.size()) {
    char32_t c = 0;
    int length = decodeUtf8(cell.text.substr(i), c);
    if (length == 0 || c == 0 || c == '"')
      return failAt({*file_, cell.line, cell.column}, ErrorCode::E0603, "cell: found {}, want text",
                    length == 0
                        ? fmt::format("byte {:#04x}, which is no UTF-8", uint8_t(cell.text[i]))
                    : c == 0 ? "a NUL byte"
                             : "a quote inside an unquoted cell");
    i += size_t(length);
  }
  return {};
}

Status CsvCells::quoted(CsvCell &cell) {
  quotedText_.clear();
  size_t i = at_.position + 1;
  while (true) {
    cut_ = i + kLongest > text_.size() && !isWhole();
    if (cut_)
      return {};
    if (i >= text_.size())
      return failAt({*file_, cell.line, cell.column}, ErrorCode::E0603,
                    "quote: found the end of the file, want a closing quote");
    LSTMC_TRY(checkLine(i, cell));
    if (quotedText_.size() > limits_->csvLine)
      return failAt({*file_, cell.line, cell.column}, ErrorCode::E0606,
                    "cell: found more than {} bytes (limit csv-line)", limits_->csvLine);
    char c = text_[i];
    if (c == '"' && i + 1 < text_.size() && text_[i + 1] == '"') {
      quotedText_ += '"';
      i += 2;
      continue;
    }
    if (c == '"')
      break;
    char32_t point = 0;
    int length = decodeUtf8(text_.substr(i), point);
    if (length == 0 || point == 0)
      return failAt({*file_, cell.line, cell.column}, ErrorCode::E0603,
                    "cell: found byte {:#04x}, want text", uint8_t(c));
    if (c == '\n')
      newLine(i);
    quotedText_.append(text_.substr(i, size_t(length)));
    i += size_t(length);
  }
  at_.position = i + 1;
  if (!atEnd() && text_[at_.position] == '\r' &&
      (at_.position + 1 == text_.size() || text_[at_.position + 1] == '\n'))
    ++at_.position;
  if (!atEnd() && text_[at_.position] != ',' && text_[at_.position] != '\n')
    return failAt({*file_, at_.line, column()}, ErrorCode::E0603,
                  "quote: found text after the closing quote, want a comma");
  LSTMC_TRY(checkLine(at_.position, cell));
  cell.text = quotedText_;
  return {};
}

} // namespace lstmc::data
