#include "executor/data/TokenText.h"

#include <algorithm>

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
    size_t length = end == text.npos ? text.size() : end + 1; // with its end
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
                                  const Limits &limits) {
  struct Count {
    int64_t times = 0, first = 0;
  };
  std::map<std::string, Count, std::less<>> counts;
  int64_t tokens = 0;
  LSTMC_TRY(eachToken(text, unit, file, limits, [&](std::string_view token, int, int) -> Status {
    auto found = counts.find(token);
    if (found == counts.end())
      found = counts.emplace(std::string(token), Count{0, tokens}).first;
    ++found->second.times;
    ++tokens;
    return {};
  }));
  if (counts.empty())
    return failAt({file, 1, 1}, ErrorCode::E0602, "text: found no tokens, want at least 1");
  // The map is in the order of bytes, and UTF-8 sorts by bytes as its code points do.
  std::vector<std::string> symbols;
  for (const auto &[symbol, count] : counts)
    symbols.push_back(symbol);
  if (unit == TextUnit::Word)
    std::sort(symbols.begin(), symbols.end(), [&](const std::string &a, const std::string &b) {
      const Count &left = counts.at(a), &right = counts.at(b);
      return left.times != right.times ? left.times > right.times : left.first < right.first;
    });
  return Vocabulary::make(std::move(symbols));
}

Result<TokenText> tokenise(std::string_view text, TextUnit unit, const Vocabulary &vocabulary,
                           const std::string &file, const Limits &limits) {
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
}

} // namespace lstmc::data
