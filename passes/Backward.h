// What gradient says of the ops that it makes.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace lstmc::passes {

/// UnitAttr on the first op of backward; what stands in front of it is forward. Taken off by
/// rematerialise.
inline constexpr llvm::StringLiteral kBackwardAttr = "sym.backward";

} // namespace lstmc::passes
