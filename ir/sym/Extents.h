// What extents a tensor may have.
#pragma once

#include <optional>
#include <string>

#include "llvm/ADT/ArrayRef.h"

#include "executor/abi/Sizes.h"

namespace lstmc::sym {

/// What is wrong with a tensor of these extents, of which negative ones are open: "has 17 axes, .."
/// where that is more axes or elements than plans hold; nothing else.
std::optional<std::string> sizeProblem(llvm::ArrayRef<int64_t> extents);

} // namespace lstmc::sym
