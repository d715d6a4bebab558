// What split-layers says of the ops that it makes.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace lstmc::passes {

/// IntegerAttr on a chunk of an op: a number of the op. Chunks follow one another in the function.
inline constexpr llvm::StringLiteral kChunkOfAttr = "sym.chunk_of";

} // namespace lstmc::passes
