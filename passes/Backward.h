// What gradient says of the ops that it makes.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace lstmc::passes {

/// UnitAttr on the ops of backward.
inline constexpr llvm::StringLiteral kBackwardAttr = "sym.backward";

} // namespace lstmc::passes
