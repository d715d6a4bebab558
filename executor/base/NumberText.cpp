#include "executor/base/NumberText.h"

#include <cmath>

#include <fmt/format.h>

#include "executor/base/ParseNumber.h"

namespace lstmc {

std::string grouped(int64_t number) {
  std::string digits = std::to_string(number);
  size_t first = number < 0 ? 1 : 0;
  for (size_t at = digits.size(); at > first + 3;)
    digits.insert(at -= 3, ",");
  return digits;
}

std::string bytesText(uint64_t bytes, int decimals) {
  double kib = double(bytes) / 1024;
  return bytes < 1024            ? fmt::format("{} bytes", bytes)
         : kib < 1024            ? fmt::format("{:.{}f} KiB", kib, decimals)
         : kib < double(1 << 20) ? fmt::format("{:.{}f} MiB", kib / 1024, decimals)
                                 : fmt::format("{:.2f} GiB", kib / (1 << 20));
}

static constexpr int64_t kMostCounted = 9'000'000'000'000'000'000;

std::optional<int64_t> scaledNumber(std::string_view text, int64_t kilo) {
  int64_t scale = 1;
  if (!text.empty()) {
    size_t power = std::string_view("KMG").find(text.back());
    if (power != std::string_view::npos) {
      text.remove_suffix(1);
      for (size_t i = 0; i <= power; ++i)
        scale *= kilo;
    }
  }
  if (std::optional<int64_t> whole = parseNumber<int64_t>(text)) { // a double would round it
    int64_t scaled = 0;
    if (*whole < 0 || __builtin_mul_overflow(*whole, scale, &scaled) || scaled > kMostCounted)
      return std::nullopt;
    return scaled;
  }
  std::optional<double> number = parseNumber<double>(text);
  double scaled = number.value_or(-1) * double(scale);
  if (!(scaled >= 0) || scaled > double(kMostCounted) || scaled != std::floor(scaled))
    return std::nullopt;
  return int64_t(scaled);
}

std::string hexFloat(double value) { return fmt::format("{:a}", value); }

std::optional<double> parseHexFloat(std::string_view text) {
  const bool negative = text.starts_with('-');
  text.remove_prefix(negative ? 1 : 0);
  if (!text.starts_with("0x"))
    return std::nullopt;
  text.remove_prefix(2);
  double value = 0;
  const char *stop = text.data() + text.size();
  auto [end, error] = std::from_chars(text.data(), stop, value, std::chars_format::hex);
  if (error != std::errc() || end != stop || !std::isfinite(value))
    return std::nullopt;
  return negative ? -value : value;
}

} // namespace lstmc
