// Decodes UTF-8 one character at a time.
#pragma once

#include <cstdint>
#include <string_view>

namespace lstmc {

/// Bytes of the first character of `text`, 1 to 4, with its code point in `out`. 0 if the bytes are
/// not UTF-8: overlong, a surrogate, beyond U+10FFFF, or cut short (Unicode 15, table 3-7).
constexpr int decodeUtf8(std::string_view text, char32_t &out) {
  auto byte = [&](size_t i) { return i < text.size() ? uint8_t(text[i]) : uint8_t(0); };
  auto tail = [&](size_t i) { return (byte(i) & 0xc0) == 0x80; };
  uint8_t a = byte(0);
  if (text.empty())
    return 0;
  if (a < 0x80) {
    out = a;
    return 1;
  }
  if (a >= 0xc2 && a < 0xe0 && tail(1)) {
    out = char32_t(a & 0x1f) << 6 | (byte(1) & 0x3f);
    return 2;
  }
  if ((a & 0xf0) == 0xe0 && tail(1) && tail(2)) {
    out = char32_t(a & 0x0f) << 12 | char32_t(byte(1) & 0x3f) << 6 | (byte(2) & 0x3f);
    return out >= 0x800 && (out < 0xd800 || out > 0xdfff) ? 3 : 0;
  }
  if (a >= 0xf0 && a < 0xf5 && tail(1) && tail(2) && tail(3)) {
    out = char32_t(a & 0x07) << 18 | char32_t(byte(1) & 0x3f) << 12 |
          char32_t(byte(2) & 0x3f) << 6 | (byte(3) & 0x3f);
    return out >= 0x10000 && out <= 0x10ffff ? 4 : 0;
  }
  return 0;
}

} // namespace lstmc
