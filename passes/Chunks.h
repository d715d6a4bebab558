// What split-layers says of the ops that it makes.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace lstmc::passes {

/// IntegerAttr on a chunk of an op: a number of the op. Chunks follow one another in the function.
inline constexpr llvm::StringLiteral kChunkOfAttr = "sym.chunk_of";

/// UnitAttr on an entry whose chunks are segments, which backward computes again one by one; the
/// ops of a segment have its number as their recompute group.
inline constexpr llvm::StringLiteral kSegmentsAttr = "sym.segments";

/// DenseI64ArrayAttr on a sum over uses of a parameter, where the entry has segments: the chunk of
/// each use, -1 where a use is of no chunk.
inline constexpr llvm::StringLiteral kUseChunksAttr = "sym.use_chunks";

} // namespace lstmc::passes
