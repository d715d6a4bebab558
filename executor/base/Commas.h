// Lists whose parts are separated by commas.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace lstmc {

/// The parts of "a,b" that are not empty.
inline std::vector<std::string> splitCommas(std::string_view text) {
  std::vector<std::string> parts;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    if (end > at)
      parts.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

} // namespace lstmc
