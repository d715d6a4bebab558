#include "passes/Placement.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "executor/abi/Packing.h"

namespace lstmc::passes {

namespace {

uint64_t padded(uint64_t bytes) { return uint64_t(roundUp(int64_t(bytes), kAlignment)); }

/// Indices of blocks, sorted by a key, stable.
template <typename Key> std::vector<uint32_t> sortedBy(const std::vector<Block> &blocks, Key key) {
  std::vector<uint32_t> order(blocks.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(key(blocks[a]), a) < std::pair(key(blocks[b]), b);
  });
  return order;
}

/// Largest first, then by time.
std::pair<uint64_t, uint32_t> sizeFirst(const Block &block) { return {~block.bytes, block.from}; }
/// Sort key: start of the lifetime, then largest first.
std::pair<uint32_t, uint64_t> birthFirst(const Block &block) { return {block.from, ~block.bytes}; }

uint64_t placeBySize(std::vector<Block> &blocks) {
  std::vector<uint32_t> placed; // by offset
  uint64_t end = 0;
  for (uint32_t index : sortedBy(blocks, sizeFirst)) {
    Block &block = blocks[index];
    uint64_t need = padded(block.bytes), reach = 0, best = 0, narrowest = ~uint64_t(0);
    bool found = false;
    for (uint32_t other : placed) {
      const Block &neighbour = blocks[other];
      if (!neighbour.meets(block))
        continue;
      if (neighbour.offset >= reach + need && neighbour.offset - reach < narrowest) {
        narrowest = neighbour.offset - reach;
        best = reach;
        found = true;
      }
      reach = std::max(reach, neighbour.offset + padded(neighbour.bytes));
    }
    block.offset = found ? best : reach;
    end = std::max(end, block.offset + need);
    auto at = std::upper_bound(
        placed.begin(), placed.end(), block.offset,
        [&](uint64_t offset, uint32_t other) { return offset < blocks[other].offset; });
    placed.insert(at, index);
  }
  return end;
}

/// Holes of a growing region, by offset and by size.
class FreeList {
public:
  uint64_t take(uint64_t bytes) {
    auto hole = bySize.lower_bound({bytes, 0});
    if (hole != bySize.end()) {
      auto [size, offset] = *hole;
      remove(offset, size);
      if (size > bytes)
        insert(offset + bytes, size - bytes);
      return offset;
    }
    uint64_t offset = end;
    if (!byOffset.empty()) {
      auto [lastOffset, lastSize] = *byOffset.rbegin();
      if (lastOffset + lastSize == end) {
        offset = lastOffset;
        remove(lastOffset, lastSize);
      }
    }
    end = offset + bytes;
    return offset;
  }

  void give(uint64_t offset, uint64_t bytes) {
    auto after = byOffset.lower_bound(offset);
    if (after != byOffset.end() && after->first == offset + bytes) {
      auto [nextOffset, nextBytes] = *after;
      bytes += nextBytes;
      remove(nextOffset, nextBytes);
      after = byOffset.lower_bound(offset);
    }
    if (after != byOffset.begin()) {
      auto [previous, size] = *std::prev(after);
      if (previous + size == offset) {
        remove(previous, size);
        offset = previous;
        bytes += size;
      }
    }
    insert(offset, bytes);
  }

  uint64_t end = 0;

private:
  void insert(uint64_t offset, uint64_t bytes) {
    byOffset.emplace(offset, bytes);
    bySize.emplace(bytes, offset);
  }
  void remove(uint64_t offset, uint64_t bytes) {
    byOffset.erase(offset);
    bySize.erase({bytes, offset});
  }

  std::map<uint64_t, uint64_t> byOffset;
  std::set<std::pair<uint64_t, uint64_t>> bySize;
};

/// End of the lifetime, including concurrent launches.
uint32_t endOf(const Block &block) { return std::max(block.to, block.order.lastBeside); }

uint64_t placeByTime(std::vector<Block> &blocks) {
  std::vector<uint32_t> begins = sortedBy(blocks, birthFirst);
  std::vector<uint32_t> ends = sortedBy(blocks, endOf);
  FreeList holes;
  size_t dead = 0;
  for (uint32_t index : begins) {
    Block &block = blocks[index];
    for (; dead < ends.size() && endOf(blocks[ends[dead]]) < block.from; ++dead)
      if (uint64_t bytes = padded(blocks[ends[dead]].bytes))
        holes.give(blocks[ends[dead]].offset, bytes);
    if (uint64_t bytes = padded(block.bytes))
      block.offset = holes.take(bytes);
  }
  return holes.end;
}

uint64_t placeApart(std::vector<Block> &blocks) {
  uint64_t end = 0;
  for (Block &block : blocks) {
    block.offset = end;
    end += padded(block.bytes);
  }
  return end;
}

} // namespace

uint64_t placeBlocks(std::vector<Block> &blocks, bool sharing) {
  if (!sharing)
    return placeApart(blocks);
  if (blocks.size() > kCarefulBlocks)
    return placeByTime(blocks);
  std::vector<Block> other = blocks;
  uint64_t byTime = placeByTime(other), end = placeBySize(blocks);
  if (byTime < end) {
    blocks = std::move(other);
    return byTime;
  }
  return end;
}

} // namespace lstmc::passes
