#include "executor/data/TokenText.h"

#include <algorithm>
#include <numeric>

#include "executor/base/ByteOrderMark.h"
#include "executor/base/NoMemory.h"
#include "executor/base/Quote.h"
#include "executor/base/Utf8.h"

namespace lstmc::data {
namespace {

using Taker = std::function<Status(std::string_view, int, int)>;

bool isBlank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// Length of the character at `i` of a line, checked.
Result<int> characterLength(std::string_view text, size_t i, const Place &place) {
  char32_t c = 0;
  int length = decodeUtf8(text.substr(i), c);
  if (length == 0)
    return failAt(place, ErrorCode::E0603, "text: found byte {:#04x}, which is no UTF-8",
                  uint8_t(text[i]));
  if (c == 0)
    return failAt(place, ErrorCode::E0603, "text: found a NUL byte");
  return length;
}

Status words(std::string_view line, int number, const std::string &file, const Limits &limits,
             const Taker &take) {
  int column = 1;
  for (size_t i = 0; i < line.size();) {
    if (isBlank(line[i])) {
      ++i;
      ++column;
      continue;
    }
    size_t begin = i;
    int beginColumn = column;
    for (; i < line.size() && !isBlank(line[i]); ++column) {
      LSTMC_ASSIGN(int length, characterLength(line, i, {file, number, column}));
      i += size_t(length);
    }
    if (i - begin > limits.name)
      return failAt({file, number, beginColumn}, ErrorCode::E0606,
                    "word: found {} bytes, want at most {} (limit name)", i - begin, limits.name);
    LSTMC_TRY(take(line.substr(begin, i - begin), number, beginColumn));
  }
  return take(kEndOfLine, number, column);
}

Status characters(std::string_view line, int number, const std::string &file, const Taker &take) {
  int column = 1;
  for (size_t i = 0; i < line.size(); ++column) {
    if (line.substr(i) == "\r\n")
      ++i;
    LSTMC_ASSIGN(int length, characterLength(line, i, {file, number, column}));
    LSTMC_TRY(take(line.substr(i, size_t(length)), number, column));
    i += size_t(length);
  }
  return {};
}

/// Where the next token is; counted on from block to block.
struct Position {
  int line = 1, column = 1;
};

Status bytes(std::string_view text, Position &at, const Taker &take) {
  for (size_t i = 0; i < text.size(); ++i, ++at.column) {
    LSTMC_TRY(take(text.substr(i, 1), at.line, at.column));
    if (text[i] == '\n') {
      ++at.line;
      at.column = 0;
    }
  }
  return {};
}

Status lines(std::string_view text, TextUnit unit, Position &at, const std::string &file,
             const Limits &limits, const Taker &take) {
  if (at.line == 1)
    text = withoutByteOrderMark(text);
  for (; !text.empty(); ++at.line) {
    size_t end = text.find('\n');
    size_t length = end == text.npos ? text.size() : end + 1; // including the end of the line
    if (length > limits.csvLine)
      return failAt({file, at.line, 1}, ErrorCode::E0606,
                    "line: found at least {} bytes, want at most {} (limit csv-line)", length,
                    limits.csvLine);
    LSTMC_TRY(unit == TextUnit::Char ? characters(text.substr(0, length), at.line, file, take)
                                     : words(text.substr(0, length), at.line, file, limits, take));
    text.remove_prefix(length);
  }
  return {};
}

} // namespace

/// Bytes of numbers that are written to the file at once.
static constexpr size_t kWritten = 1 << 20;

Status TokenText::push(int32_t id) {
  for (size_t byte = 0; byte < width_; ++byte)
    held_.push_back(uint8_t(uint32_t(id) >> (8 * byte)));
  if (held_.size() < (file_ ? kWritten : memory_))
    return {};
  if (!file_) {
    LSTMC_ASSIGN(ScratchFile made, ScratchFile::create());
    file_ = std::move(made);
  }
  LSTMC_TRY(file_->append(held_));
  filed_ += held_.size();
  held_ = {};
  held_.reserve(kWritten);
  return {};
}

Status TokenText::read(int64_t begin, std::span<int32_t> to) const {
  uint64_t first = uint64_t(begin) * width_, bytes = to.size() * width_;
  Bytes fromFile(std::min(bytes, filed_ - std::min(first, filed_)));
  if (!fromFile.empty())
    LSTMC_TRY(file_->read(first, fromFile));
  for (size_t i = 0; i < to.size(); ++i) {
    uint64_t at = i * width_;
    const uint8_t *from =
        at < fromFile.size() ? fromFile.data() + at : held_.data() + (first + at - filed_);
    uint32_t id = 0;
    for (size_t byte = 0; byte < width_; ++byte)
      id |= uint32_t(from[byte]) << (8 * byte);
    to[i] = int32_t(id);
  }
  return {};
}

Result<int32_t> TokenText::at(int64_t token) const {
  int32_t id = 0;
  LSTMC_TRY(read(token, {&id, 1}));
  return id;
}

Status TokenText::each(const std::function<bool(int64_t, int32_t)> &take) const {
  std::vector<int32_t> ids(1 << 16);
  for (int64_t begin = 0; begin < size(); begin += int64_t(ids.size())) {
    ids.resize(size_t(std::min(int64_t(ids.size()), size() - begin)));
    LSTMC_TRY(read(begin, ids));
    for (size_t i = 0; i < ids.size(); ++i)
      if (!take(begin + int64_t(i), ids[i]))
        return {};
  }
  return {};
}

Status eachToken(const TextBlocks &text, TextUnit unit, const std::string &file,
                 const Limits &limits, const Taker &take) {
  Position at;
  return text.each([&](std::string_view block) {
    return unit == TextUnit::Byte ? bytes(block, at, take)
                                  : lines(block, unit, at, file, limits, take);
  });
}

Result<Vocabulary> makeVocabulary(const TextBlocks &text, TextUnit unit, const std::string &file,
                                  const Limits &limits) try {
  SymbolTable symbols;
  std::vector<uint32_t> times; // counters stop at 2^32 - 1
  LSTMC_TRY(eachToken(
      text, unit, file, limits, [&](std::string_view token, int line, int column) -> Status {
        auto [id, isNew] = symbols.add(token);
        if (symbols.size() > limits.nodes)
          return failAt({file, line, column}, ErrorCode::E0606,
                        "text: found more than {} different tokens (limit nodes)", limits.nodes);
        if (isNew)
          times.push_back(0);
        times[size_t(id)] += times[size_t(id)] < UINT32_MAX;
        return {};
      }));
  if (symbols.size() == 0)
    return failAt({file, 1, 1}, ErrorCode::E0602, "text: found no tokens, want at least 1");
  std::vector<uint32_t> order(symbols.size());
  std::iota(order.begin(), order.end(), 0);
  // Words are sorted by frequency, then by first appearance; characters by code point, which is
  // also the order of their UTF-8 bytes.
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    if (unit != TextUnit::Word)
      return symbols[a] < symbols[b];
    return times[a] != times[b] ? times[a] > times[b] : a < b;
  });
  SymbolTable sorted;
  for (uint32_t id : order)
    sorted.add(symbols[id]);
  return Vocabulary(std::move(sorted));
} catch (const std::bad_alloc &) {
  return noMemory(file);
}

/// What a text read by this unit is made of.
static std::string_view tokensOf(TextUnit unit) {
  return unit == TextUnit::Char ? "characters" : unit == TextUnit::Word ? "words" : "bytes";
}

Result<TokenText> tokenise(const TextBlocks &text, TextUnit unit, const Vocabulary &vocabulary,
                           const std::string &file, const Limits &limits) try {
  uint64_t tokens = 0;
  LSTMC_TRY(eachToken(text, unit, file, limits, [&](std::string_view, int, int) -> Status {
    ++tokens;
    return {};
  }));
  TokenText ids(vocabulary.size(), limits.dataMemory);
  ids.reserve(tokens);
  LSTMC_TRY(eachToken(text, unit, file, limits,
                      [&](std::string_view token, int line, int column) -> Status {
                        std::optional<int32_t> id = vocabulary.find(token);
                        if (!id)
                          return failAt({file, line, column}, ErrorCode::E0607,
                                        "token: found {}, want one of the vocabulary's {} {}",
                                        inQuotes(token), vocabulary.size(), tokensOf(unit));
                        return ids.push(*id);
                      }));
  return ids;
} catch (const std::bad_alloc &) {
  return noMemory(file);
}

} // namespace lstmc::data
