// Offsets for blocks of memory that live for a while.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lstmc::passes {

/// `bytes` needed in all launches `from` to `to`, both included.
struct Block {
  uint64_t bytes = 0;
  uint32_t from = 0, to = 0;
  uint64_t offset = 0;
};

/// Gives every block an offset, a multiple of abi/Packing.h's kAlignment, so that no two that live
/// at once overlap. Returns where the last one ends, rounded up.
///
/// Up to kCarefulBlocks blocks: by size, largest first, each into the narrowest gap among those
/// that it meets in time; n^2 comparisons. In every case: by time, each into the narrowest hole of
/// a free list; n log n. The smaller result stays. Without `sharing` blocks follow one another.
/// Equal input gives equal offsets.
uint64_t placeBlocks(std::vector<Block> &blocks, bool sharing = true);

inline constexpr size_t kCarefulBlocks = 3000;

} // namespace lstmc::passes
