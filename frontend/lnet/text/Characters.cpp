#include "frontend/lnet/text/Characters.h"

#include <algorithm>

#include <fmt/format.h>

namespace lstmc::lnet {

namespace {

struct Character {
  uint32_t code = 0;
  size_t bytes = 0; ///< 0: not UTF-8
};

Character decode(std::string_view text, size_t at) {
  auto byte = [&](size_t i) -> uint32_t {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u;
  };
  uint32_t lead = byte(0);
  if (lead < 0x80)
    return {lead, 1};
  size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4)
    return {};
  uint32_t code = lead & (0x7Fu >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80)
      return {};
    code = code << 6 | (byte(i) & 0x3F);
  }
  constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kSmallest[bytes] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
    return {};
  return {code, bytes};
}

bool mayNotStand(uint32_t code) {
  bool control = (code < 0x20 && code != '\t' && code != '\n') || (code >= 0x7F && code < 0xA0);
  bool bidirectional = (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
  return control || bidirectional;
}

void report(const SourceFile &file, Problems &problems, Span span, std::string message) {
  Diagnostic diagnostic;
  diagnostic.code = ErrorCode::E0101;
  diagnostic.message = std::move(message);
  diagnostic.place = file.range(span);
  problems.add(std::move(diagnostic));
}

/// The word after `coding:` or `coding=` in a comment line, where CPython would look for one.
std::string_view declaredEncoding(std::string_view line) {
  size_t hash = line.find_first_not_of(" \t");
  if (hash == line.npos || line[hash] != '#')
    return {};
  auto isWord = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  for (size_t at = line.find("coding", hash); at != line.npos; at = line.find("coding", at + 1)) {
    size_t begin = at + 6;
    if (begin >= line.size() || (line[begin] != ':' && line[begin] != '='))
      continue;
    begin = line.find_first_not_of(" \t", begin + 1);
    if (begin == line.npos)
      return {};
    size_t end = begin;
    while (end < line.size() && isWord(line[end]))
      ++end;
    if (end > begin)
      return line.substr(begin, end - begin);
  }
  return {};
}

bool isUtf8Name(std::string_view name) {
  constexpr std::string_view kWanted = "utf-8";
  if (name.size() != kWanted.size())
    return false;
  for (size_t i = 0; i < name.size(); ++i) {
    char c = name[i] >= 'A' && name[i] <= 'Z' ? char(name[i] + 32) : name[i];
    if (c != kWanted[i])
      return false;
  }
  return true;
}

} // namespace

Span characterAt(std::string_view text, size_t at) {
  return {uint32_t(at), uint32_t(at + std::max<size_t>(1, decode(text, at).bytes))};
}

bool mayStandInFile(std::string_view text, size_t at) {
  return !mayNotStand(decode(text, at).code);
}

bool declaresEncoding(std::string_view line) {
  std::string_view encoding = declaredEncoding(line);
  return !encoding.empty() && !isUtf8Name(encoding);
}

bool checkCharacters(const SourceFile &file, Problems &problems) {
  std::string_view text = file.text();
  for (int line = 1; line <= 2 && line <= file.lineCount(); ++line) {
    if (declaresEncoding(file.lineText(line))) {
      std::string_view encoding = declaredEncoding(file.lineText(line));
      uint32_t begin = uint32_t(encoding.data() - text.data());
      report(file, problems, {begin, begin + uint32_t(encoding.size())},
             fmt::format("encoding {} is declared, want utf-8", encoding));
    }
    std::string_view before = file.lineText(line);
    size_t first = before.find_first_not_of(" \t");
    if (first != before.npos && before[first] != '#')
      break; // CPython looks at the second line only if the first is blank or a comment
  }
  for (size_t at = 0; at < text.size();) {
    unsigned char c = text[at];
    if (c >= 0x20 && c < 0x7F) {
      ++at;
      continue;
    }
    if (c == '\r' && at + 1 < text.size() && text[at + 1] == '\n') {
      at += 2;
      continue;
    }
    Character character = decode(text, at);
    if (character.bytes == 0) {
      report(file, problems, {uint32_t(at), uint32_t(at + 1)},
             fmt::format("byte 0x{:02x} at offset {} is not UTF-8", c, at));
      return false;
    }
    if (mayNotStand(character.code))
      report(file, problems, {uint32_t(at), uint32_t(at + character.bytes)},
             fmt::format("character U+{:04X} is not allowed here", character.code));
    at += character.bytes;
  }
  return true;
}

} // namespace lstmc::lnet
