#include "executor/base/NumberText.h"

#include <fmt/format.h>

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

} // namespace lstmc
