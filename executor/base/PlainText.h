// Text from files that is shown to people.
#pragma once

#include <string_view>

#include "executor/base/Utf8.h"

namespace lstmc {

/// Whether a terminal shows `text` as it is: UTF-8 without control characters other than tabs, and
/// without characters that change the direction of writing. Lines of source files may hold only
/// this.
constexpr bool isPlainText(std::string_view text) {
  while (!text.empty()) {
    if (text.front() >= 0x20 && text.front() < 0x7f) { // as most characters
      text.remove_prefix(1);
      continue;
    }
    char32_t c = 0;
    const int length = decodeUtf8(text, c);
    const bool control = (c < 0x20 && c != '\t') || (c >= 0x7f && c < 0xa0);
    const bool turns = (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
    if (length == 0 || control || turns)
      return false;
    text.remove_prefix(size_t(length));
  }
  return true;
}

} // namespace lstmc
