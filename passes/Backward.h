// Attribute that gradient sets on the ops that it creates.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace lstmc::passes {

/// UnitAttr on backward ops.
inline constexpr llvm::StringLiteral kBackwardAttr = "sym.backward";

} // namespace lstmc::passes
