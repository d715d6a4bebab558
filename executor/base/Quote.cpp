#include "executor/base/Quote.h"

#include <algorithm>

#include "executor/base/Escape.h"

#include <fmt/format.h>

#include "executor/base/Utf8.h"

namespace lstmc {

static bool invisible(char32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x200b && c <= 0x200f) ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff;
}

std::string inQuotes(std::string_view name) {
  constexpr size_t kMost = 80;
  std::string text = "\"";
  size_t i = 0;
  while (i < name.size() && i < kMost) {
    char32_t c = 0;
    int length = decodeUtf8(name.substr(i), c);
    if (length == 0)
      text += fmt::format("\\x{:02x}", uint8_t(name[i]));
    else if (c == '\n')
      text += "\\n";
    else if (c == '"' || c == '\\')
      text += {'\\', char(c)};
    else if (invisible(c))
      text += fmt::format("\\u{:04x}", uint32_t(c));
    else
      text += name.substr(i, size_t(length));
    i += size_t(length == 0 ? 1 : length);
  }
  return text + (i < name.size() ? "...\"" : "\"");
}

std::string escaped(std::string_view text, bool lines) {
  if (std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7f; })) // as most texts
    return std::string(text);
  std::string safe;
  for (size_t i = 0; i < text.size();) {
    char32_t c = 0;
    int length = decodeUtf8(text.substr(i), c);
    if (length == 0)
      safe += fmt::format("\\x{:02x}", uint8_t(text[i]));
    else if (lines && (c == '\n' || c == '\t'))
      safe += char(c);
    else if (invisible(c))
      safe += c == '\n' ? "\\n" : fmt::format("\\u{:04x}", uint32_t(c));
    else
      safe += text.substr(i, size_t(length));
    i += size_t(length == 0 ? 1 : length);
  }
  return safe;
}

} // namespace lstmc
