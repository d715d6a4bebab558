// For registries whose names are compared without case.
#pragma once

#include <string>
#include <string_view>

namespace lstmc {

/// Converts ASCII letters to lower case and keeps all else.
inline std::string lowerCase(std::string_view text) {
  std::string lower(text);
  for (char &c : lower)
    if (c >= 'A' && c <= 'Z')
      c = char(c - 'A' + 'a');
  return lower;
}

} // namespace lstmc
