#include "executor/data/TokenText.h"

#include <algorithm>
#include <numeric>

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
    LSTMC_ASSIGN(int length, characterLength(line, i, {file, number, column}));
    LSTMC_TRY(take(line.substr(i, size_t(length)), number, column));
    i += size_t(length);
  }
  return {};
}

Status bytes(std::string_view text, const Taker &take) {
  int line = 1, column = 1;
  for (size_t i = 0; i < text.size(); ++i, ++column) {
    LSTMC_TRY(take(text.substr(i, 1), line, column));
    if (text[i] == '\n') {
      ++line;
      column = 0;
    }
  }
  return {};
}

} // namespace

Status eachToken(std::string_view text, TextUnit unit, const std::string &file,
                 const Limits &limits, const Taker &take) {
  if (unit == TextUnit::Byte)
    return bytes(text, take);
  for (int line = 1; !text.empty(); ++line) {
    size_t end = text.find('\n');
    size_t length = end == text.npos ? text.size() : end + 1; // including the end of the line
    if (length > limits.csvLine)
      return failAt({file, line, 1}, ErrorCode::E0606,
                    "line: found {} bytes, want at most {} (limit csv-line)", length,
                    limits.csvLine);
    LSTMC_TRY(unit == TextUnit::Char ? characters(text.substr(0, length), line, file, take)
                                     : words(text.substr(0, length), line, file, limits, take));
    text.remove_prefix(length);
  }
  return {};
}

Result<Vocabulary> makeVocabulary(std::string_view text, TextUnit unit, const std::string &file,
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

Result<TokenText> tokenise(std::string_view text, TextUnit unit, const Vocabulary &vocabulary,
                           const std::string &file, const Limits &limits) try {
  int64_t tokens = 0;
  LSTMC_TRY(eachToken(text, unit, file, limits, [&](std::string_view, int, int) -> Status {
    ++tokens;
    return {};
  }));
  TokenText ids(vocabulary.size());
  ids.reserve(size_t(tokens));
  LSTMC_TRY(eachToken(text, unit, file, limits,
                      [&](std::string_view token, int line, int column) -> Status {
                        std::optional<int32_t> id = vocabulary.find(token);
                        if (!id)
                          return failAt({file, line, column}, ErrorCode::E0607,
                                        "token: found {}, want one of the vocabulary's {} symbols",
                                        inQuotes(token), vocabulary.size());
                        ids.push(*id);
                        return {};
                      }));
  return ids;
} catch (const std::bad_alloc &) {
  return noMemory(file);
}

} // namespace lstmc::data
