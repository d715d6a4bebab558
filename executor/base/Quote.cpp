#include "executor/base/Quote.h"

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

} // namespace lstmc
