// Offsets for blocks of memory that live for a while.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "executor/abi/Streams.h"

namespace lstmc::passes {

/// Per stream: how many launches of the program, counted from its begin, are done as far as they
/// are on that stream.
using StreamClock = std::array<uint32_t, kMaxStreams>;

/// Whether all that `done` counts is done at `clock`.
inline bool reaches(const StreamClock &clock, const StreamClock &done) {
  for (size_t stream = 0; stream < clock.size(); ++stream)
    if (clock[stream] < done[stream])
      return false;
  return true;
}

/// Where the launches that touch a block are on streams. As it is made: of one stream.
struct StreamOrder {
  StreamClock known{};     ///< what is done in any case when one of them begins
  StreamClock done{};      ///< what is done when all of them are
  uint32_t lastBeside = 0; ///< no launch after this one may run beside one of them

  void add(const StreamOrder &other) {
    for (size_t stream = 0; stream < known.size(); ++stream) {
      known[stream] = known[stream] < other.known[stream] ? known[stream] : other.known[stream];
      done[stream] = done[stream] > other.done[stream] ? done[stream] : other.done[stream];
    }
    lastBeside = lastBeside > other.lastBeside ? lastBeside : other.lastBeside;
  }
};

/// `bytes` needed in all launches `from` to `to`, both included, and in those beside them.
struct Block {
  uint64_t bytes = 0;
  uint32_t from = 0, to = 0;
  uint64_t offset = 0;
  StreamOrder order = {};

  /// Whether both may be needed at once: neither ends before the other begins, in the list and by
  /// the order of streams.
  bool meets(const Block &other) const {
    return !(to < other.from && reaches(other.order.known, order.done)) &&
           !(other.to < from && reaches(order.known, other.order.done));
  }
};

/// Gives every block an offset, a multiple of abi/Packing.h's kAlignment, so that no two that live
/// at once overlap. Returns where the last one ends, rounded up.
///
/// Up to kCarefulBlocks blocks: by size, largest first, each into the narrowest gap among those
/// that it meets; n^2 comparisons. In every case: by time, each into the narrowest hole of
/// a free list, as if it lived until nothing runs beside it; n log n. The smaller result stays.
/// Without `sharing` blocks follow one another. Equal input gives equal offsets.
uint64_t placeBlocks(std::vector<Block> &blocks, bool sharing = true);

inline constexpr size_t kCarefulBlocks = 3000;

} // namespace lstmc::passes
