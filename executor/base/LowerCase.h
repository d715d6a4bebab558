// Names of registries that know no case.
#pragma once

#include <string>
#include <string_view>

namespace lstmc {

/// ASCII letters in lower case; all else as it is.
inline std::string lowerCase(std::string_view text) {
  std::string lower(text);
  for (char &c : lower)
    if (c >= 'A' && c <= 'Z')
      c = char(c - 'A' + 'a');
  return lower;
}

} // namespace lstmc
