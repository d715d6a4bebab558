// What some editors put before a text in UTF-8.
#pragma once

#include <string_view>

namespace lstmc {

/// The text without a byte order mark at its begin.
constexpr std::string_view withoutByteOrderMark(std::string_view text) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  return text.starts_with(kMark) ? text.substr(kMark.size()) : text;
}

} // namespace lstmc
