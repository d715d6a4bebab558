// Numbers as text, strictly and whatever the locale.
#pragma once

#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace lstmc::training {

inline std::optional<int64_t> parseInteger(std::string_view text) {
  int64_t value = 0;
  auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

/// Finite.
inline std::optional<double> parseReal(std::string_view text,
                                       std::chars_format format = std::chars_format::general) {
  double value = 0;
  auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value, format);
  if (fault != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

/// "0x1.8p+1": comes back bit for bit.
inline std::string hexFloat(double value) { return fmt::format("{:a}", value); }

inline std::optional<double> parseHexFloat(std::string_view text) {
  bool negative = text.starts_with('-');
  text.remove_prefix(negative ? 1 : 0);
  if (!text.starts_with("0x"))
    return std::nullopt;
  std::optional<double> value = parseReal(text.substr(2), std::chars_format::hex);
  return value && negative ? -*value : value;
}

} // namespace lstmc::training
