// Offset assignment for memory blocks with lifetimes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "executor/abi/Streams.h"

namespace lstmc::passes {

/// Vector clock over streams: per stream, all launches of that stream with an index below this
/// count are done.
using StreamClock = std::array<uint32_t, kMaxStreams>;

/// Whether everything done at `done` is also done at `clock`.
inline bool reaches(const StreamClock &clock, const StreamClock &done) {
  for (size_t stream = 0; stream < clock.size(); ++stream)
    if (clock[stream] < done[stream])
      return false;
  return true;
}

/// Position of the launches that touch a block relative to all streams. Default: one stream.
struct StreamOrder {
  StreamClock known{};     ///< done whenever one of the launches begins
  StreamClock done{};      ///< done once all of the launches are
  uint32_t lastBeside = 0; ///< no later launch can run concurrently with one of them

  void add(const StreamOrder &other) {
    for (size_t stream = 0; stream < known.size(); ++stream) {
      known[stream] = known[stream] < other.known[stream] ? known[stream] : other.known[stream];
      done[stream] = done[stream] > other.done[stream] ? done[stream] : other.done[stream];
    }
    lastBeside = lastBeside > other.lastBeside ? lastBeside : other.lastBeside;
  }
};

/// `bytes` that are live in the launches `from` to `to`, both included, and in launches concurrent
/// with them.
struct Block {
  uint64_t bytes = 0;
  uint32_t from = 0, to = 0;
  uint64_t offset = 0;
  StreamOrder order = {};

  /// Whether both may be live at once: neither ends before the other begins, in program order and
  /// in the order of streams.
  bool meets(const Block &other) const {
    return !(to < other.from && reaches(other.order.known, order.done)) &&
           !(other.to < from && reaches(order.known, other.order.done));
  }
};

/// Assigns every block an offset, a multiple of abi/Packing.h's kAlignment, so that no two blocks
/// that are live at once overlap. Returns the end of the last block, rounded up.
///
/// Up to kCarefulBlocks blocks: best fit by size, largest first, into the narrowest gap between the
/// blocks that it meets; n^2 comparisons. In every case: best fit by time into a free list, with
/// each lifetime extended to the last concurrent launch; n log n. The smaller result is used.
/// Without `sharing` blocks follow one another. Equal input gives equal offsets.
uint64_t placeBlocks(std::vector<Block> &blocks, bool sharing = true);

inline constexpr size_t kCarefulBlocks = 3000;

} // namespace lstmc::passes
