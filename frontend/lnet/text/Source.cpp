#include "frontend/lnet/text/Source.h"

#include <algorithm>

#include <fmt/format.h>
#include <llvm/Support/Unicode.h>

namespace lstmc::lnet {

namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr uint32_t kCheckpointBytes = 256;
constexpr size_t kLongLine = 4096;

size_t sequenceLength(unsigned char lead) {
  return lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
}

int cellsAt(std::string_view text, size_t at, size_t length, int start) {
  unsigned char lead = text[at];
  if (lead == '\t')
    return 8 - start % 8;
  if (lead >= 0x20 && lead < 0x7F)
    return 1;
  int width = llvm::sys::unicode::columnWidthUTF8({text.data() + at, length});
  return width < 0 ? int(lead < 0x80 ? 1 : length) : width;
}

} // namespace

int displayCells(std::string_view text, int start) {
  int cell = start;
  for (size_t i = 0; i < text.size();) {
    size_t length = std::min(sequenceLength(text[i]), text.size() - i);
    cell += cellsAt(text, i, length, cell);
    i += length;
  }
  return cell - start;
}

SourceFile::SourceFile(std::string path, std::string text)
    : path_(std::move(path)), text_(std::move(text)), lineStarts_{0}, plain_{true} {
  for (size_t i = 0; i < text_.size(); ++i) {
    unsigned char c = text_[i];
    if (c == '\n') {
      lineStarts_.push_back(uint32_t(i + 1));
      plain_.push_back(true);
    } else if ((c < 0x20 && c != '\r') || c >= 0x7F) {
      plain_.back() = false;
    }
  }
}

int SourceFile::line(uint32_t offset) const {
  return int(std::upper_bound(lineStarts_.begin(), lineStarts_.end(), offset) -
             lineStarts_.begin());
}

std::string_view SourceFile::lineText(int line) const {
  uint32_t begin = lineStarts_[line - 1];
  uint32_t end = line < lineCount() ? lineStarts_[line] - 1 : uint32_t(text_.size());
  std::string_view text = std::string_view(text_).substr(begin, end - begin);
  if (!text.empty() && text.back() == '\r')
    text.remove_suffix(1);
  if (line == 1 && text.starts_with(kByteOrderMark))
    text.remove_prefix(kByteOrderMark.size());
  return text;
}

const std::vector<int> &SourceFile::checkpoints(int line) const {
  auto [at, fresh] = checkpoints_.try_emplace(line);
  if (fresh) {
    std::string_view text = lineText(line);
    int cell = 0;
    for (size_t i = 0; i < text.size();) {
      size_t length = std::min(sequenceLength(text[i]), text.size() - i);
      for (size_t k = i; k < i + length; ++k)
        if (k % kCheckpointBytes == 0)
          at->second.push_back(cell);
      cell += cellsAt(text, i, length, cell);
      i += length;
    }
    at->second.push_back(cell);
  }
  return at->second;
}

int SourceFile::column(uint32_t offset) const {
  int at = line(offset);
  std::string_view text = lineText(at);
  uint32_t begin = uint32_t(text.data() - text_.data());
  uint32_t byte = std::min<uint32_t>(offset < begin ? 0 : offset - begin, text.size());
  if (plain_[at - 1])
    return int(byte) + 1;
  uint32_t from = byte / kCheckpointBytes;
  int cell = checkpoints(at)[std::min<size_t>(from, checkpoints(at).size() - 1)];
  uint32_t start = from * kCheckpointBytes;
  while (start < byte && (text[start] & 0xC0) == 0x80)
    ++start; // the checkpoint may stand inside a character, whose cells come after it
  if (start != from * kCheckpointBytes) {
    uint32_t lead = from * kCheckpointBytes;
    while (lead > 0 && (text[lead] & 0xC0) == 0x80)
      --lead;
    cell += displayCells(text.substr(lead, start - lead), cell);
  }
  return cell + displayCells(text.substr(start, byte - start), cell) + 1;
}

SourceRange SourceFile::range(Span span) const {
  SourceRange range;
  range.file = path_;
  range.line = line(span.begin);
  range.column = column(span.begin);
  range.byte = span.begin;
  range.bytes = std::max<int64_t>(1, int64_t(span.end) - span.begin);
  std::string_view text = lineText(range.line);
  uint32_t lineEnd = uint32_t(text.data() + text.size() - text_.data());
  uint32_t end = std::min(std::max(span.end, span.begin), std::max(lineEnd, span.begin));
  range.length = plain_[range.line - 1] ? int(end - span.begin) : column(end) - range.column;
  range.length = std::max(1, range.length);
  if (text.size() <= kLongLine)
    range.text = std::string(text);
  return range;
}

std::string SourceFile::placeText(uint32_t offset) const {
  return fmt::format("{}:{}:{}", path_, line(offset), column(offset));
}

} // namespace lstmc::lnet
