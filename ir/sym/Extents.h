// Limits on the shape of a tensor.
#pragma once

#include <optional>
#include <string>

#include "llvm/ADT/ArrayRef.h"

#include "executor/abi/Sizes.h"

namespace lstmc::sym {

/// A message ("has 17 axes, ...") if a tensor with these extents has more axes or elements than a
/// plan can hold; else nullopt. Negative extents are unknown.
std::optional<std::string> sizeProblem(llvm::ArrayRef<int64_t> extents);

} // namespace lstmc::sym
