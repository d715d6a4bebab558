#include "executor/data/Vocabulary.h"

#include "executor/base/ByteOrderMark.h"
#include "executor/base/InputFile.h"
#include "executor/base/NoMemory.h"
#include "executor/base/Quote.h"

namespace lstmc::data {
namespace {

constexpr std::pair<TextUnit, std::string_view> kUnits[] = {
    {TextUnit::Char, "char"}, {TextUnit::Word, "word"}, {TextUnit::Byte, "byte"}};

std::optional<int> hexDigit(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  return std::nullopt;
}

std::string escaped(std::string_view symbol) {
  std::string text;
  // At the beginning of a file it would be none of the first symbol's.
  if (withoutByteOrderMark(symbol).size() < symbol.size()) {
    text = "\\xef\\xbb\\xbf";
    symbol = withoutByteOrderMark(symbol);
  }
  for (char c : symbol) {
    if (c == '\n')
      text += "\\n";
    else if (c == '\r')
      text += "\\r";
    else if (c == '\t')
      text += "\\t";
    else if (c == '\\')
      text += "\\\\";
    else if (uint8_t(c) < 0x20 || uint8_t(c) == 0x7f || (uint8_t(c) >= 0x80 && symbol.size() == 1))
      text += fmt::format("\\x{:02x}", uint8_t(c));
    else
      text += c;
  }
  return text;
}

/// The symbol on a line; nothing if an escape is unknown.
std::optional<std::string> unescaped(std::string_view line) {
  std::string symbol;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\\') {
      symbol += line[i];
      continue;
    }
    char kind = ++i < line.size() ? line[i] : '\0';
    if (kind == 'n' || kind == 'r' || kind == 't' || kind == '\\') {
      symbol += kind == 'n' ? '\n' : kind == 'r' ? '\r' : kind == 't' ? '\t' : '\\';
      continue;
    }
    std::optional<int> high =
        i + 2 < line.size() && kind == 'x' ? hexDigit(line[i + 1]) : std::nullopt;
    std::optional<int> low = high ? hexDigit(line[i + 2]) : std::nullopt;
    if (!low)
      return std::nullopt;
    symbol += char(*high * 16 + *low);
    i += 2;
  }
  return symbol;
}

} // namespace

std::optional<TextUnit> parseTextUnit(std::string_view name) {
  for (const auto &[unit, known] : kUnits)
    if (known == name)
      return unit;
  return std::nullopt;
}

std::string_view textUnitName(TextUnit unit) { return kUnits[size_t(unit)].second; }

Result<Vocabulary> Vocabulary::parse(std::string_view text, const std::string &file,
                                     const Limits &limits) try {
  SymbolTable symbols;
  text = withoutByteOrderMark(text);
  int line = 0;
  while (!text.empty()) {
    ++line;
    size_t end = std::min(text.find('\n'), text.size());
    std::string_view here = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (here.ends_with('\r'))
      here.remove_suffix(1);
    Place place{file, line, 1};
    if (here.empty())
      return failAt(place, ErrorCode::E0603, "symbol: found an empty line, want a symbol");
    if (here.size() > limits.name)
      return failAt(place, ErrorCode::E0606, "symbol: found {} bytes, want at most {} (limit name)",
                    here.size(), limits.name);
    if (symbols.size() >= limits.nodes)
      return failAt(place, ErrorCode::E0606, "symbols: found more than {} (limit nodes)",
                    limits.nodes);
    std::optional<std::string> symbol = unescaped(here);
    if (!symbol)
      return failAt(place, ErrorCode::E0603,
                    "symbol: found an unknown escape in {}, want \\n \\r \\t \\\\ or \\xNN",
                    inQuotes(here));
    if (!symbols.add(*symbol).second)
      return failAt(place, ErrorCode::E0612, "symbol {}: found twice, want once",
                    inQuotes(*symbol));
  }
  if (symbols.size() == 0)
    return failAt({file, 1, 1}, ErrorCode::E0602, "vocabulary: found no symbols, want at least 1");
  return Vocabulary(std::move(symbols));
} catch (const std::bad_alloc &) {
  return noMemory(file);
}

Result<Vocabulary> Vocabulary::load(const std::string &path, const Limits &limits) {
  LSTMC_ASSIGN(Bytes bytes, readFile(path));
  return parse(asText(bytes), path, limits);
}

std::string Vocabulary::line(size_t id) const { return escaped(symbols_[id]); }

std::string Vocabulary::text() const {
  std::string text;
  for (size_t id = 0; id < size(); ++id)
    text += line(id) + "\n";
  return text;
}

} // namespace lstmc::data
