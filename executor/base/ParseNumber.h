// Numbers from text, strictly and independent of the locale: the whole text is the number.
#pragma once

#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

namespace lstmc {

/// A decimal integer, or a floating-point number, which may be infinite or NaN. Nothing may stand
/// before or after it; nullopt otherwise, and if T cannot hold the value.
template <typename T> std::optional<T> parseNumber(std::string_view text) {
  T value{};
  const char *stop = text.data() + text.size();
  auto [end, error] = std::from_chars(text.data(), stop, value);
  return error == std::errc() && end == stop ? std::optional(value) : std::nullopt;
}

/// As parseNumber<double>, but nullopt for infinity and NaN.
inline std::optional<double> parseFinite(std::string_view text) {
  std::optional<double> value = parseNumber<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

/// A finite number as `hexFloat` prints it, "-0x1.8p+1", bit for bit.
std::optional<double> parseHexFloat(std::string_view text);

} // namespace lstmc
