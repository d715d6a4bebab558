// What extents a tensor may have.
#pragma once

#include <optional>
#include <string>

#include "llvm/ADT/ArrayRef.h"

#include "executor/abi/Sizes.h"

namespace lstmc::sym {

/// What is wrong with a tensor of these extents, as text ("has 17 axes, .."), if it has more axes
/// or elements than a plan can hold; else nothing. Negative extents are open.
std::optional<std::string> sizeProblem(llvm::ArrayRef<int64_t> extents);

} // namespace lstmc::sym
