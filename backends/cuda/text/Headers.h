// The headers that the text of kernels includes, as they were when this was built.
#pragma once

#include <span>
#include <string_view>

namespace lstmc::cuda {

struct TextHeader {
  const char *name; ///< as it is included
  const char *text; ///< ends with a zero
};

std::span<const TextHeader> textHeaders();

} // namespace lstmc::cuda
