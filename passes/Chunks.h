// Attributes that split-layers sets on the ops that it creates.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace lstmc::passes {

/// IntegerAttr on each chunk of an op: identifies the original op. Chunks stand in ascending order
/// in the function.
inline constexpr llvm::StringLiteral kChunkOfAttr = "sym.chunk_of";

/// UnitAttr on an entry whose chunks are recompute segments, recomputed one by one in backward. The
/// number of a segment is the recompute group of its ops.
inline constexpr llvm::StringLiteral kSegmentsAttr = "sym.segments";

/// DenseI64ArrayAttr on a sum over the uses of a parameter, in an entry with segments: the chunk of
/// each use, -1 for a use outside of chunks.
inline constexpr llvm::StringLiteral kUseChunksAttr = "sym.use_chunks";

} // namespace lstmc::passes
