// Who touched a place last, and whether that was before the thread that touches it now.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace lstmc::gpu {

/// What a thread knows to have happened. Everything that a block did in an epoch below `blocks[b]`,
/// and what thread t itself did before its release number `threads[t]`.
struct Clock {
  std::vector<uint32_t> blocks;
  std::map<uint32_t, uint32_t> threads;

  void merge(const Clock &other) {
    if (blocks.size() < other.blocks.size())
      blocks.resize(other.blocks.size());
    for (size_t b = 0; b < other.blocks.size(); ++b)
      blocks[b] = std::max(blocks[b], other.blocks[b]);
    for (auto [thread, release] : other.threads)
      threads[thread] = std::max(threads[thread], release);
  }
};

/// A moment of a thread: epochs are counted by meetings of the block, warp epochs by those of the
/// warp, releases by what the thread itself published.
struct Moment {
  uint32_t thread = 0, block = 0, warp = 0; ///< numbers in the whole launch
  uint32_t epoch = 0, warpEpoch = 0, release = 0;
};

/// Whether `then` happened before `now`, a moment of a thread that knows `known`.
inline bool happenedBefore(const Moment &then, const Moment &now, const Clock &known) {
  if (then.thread == now.thread)
    return true;
  if (then.block == now.block &&
      (then.epoch < now.epoch || (then.warp == now.warp && then.warpEpoch < now.warpEpoch)))
    return true;
  if (then.block < known.blocks.size() && then.epoch < known.blocks[then.block])
    return true;
  auto published = known.threads.find(then.thread);
  return published != known.threads.end() && then.release < published->second;
}

/// An access to some bytes of a word.
struct Access {
  Moment moment;
  uint8_t bytes = 0; ///< a bit each; 0: none

  bool conflicts(uint8_t with, const Moment &now, const Clock &known) const {
    return (bytes & with) && !happenedBefore(moment, now, known);
  }
};

/// Accesses to a word of four bytes.
struct Word {
  Access writer, reader, earlierReader;

  /// The access that `now` must have come after, and has not; null if all is well. Remembers this
  /// one.
  const Access *read(uint8_t mask, const Moment &now, const Clock &known) {
    if (writer.conflicts(mask, now, known))
      return &writer;
    if (reader.bytes && reader.moment.thread != now.thread)
      earlierReader = reader;
    reader = {now, mask};
    return nullptr;
  }
  const Access *write(uint8_t mask, const Moment &now, const Clock &known) {
    for (const Access *access : {&writer, &reader, &earlierReader})
      if (access->conflicts(mask, now, known))
        return access;
    writer = {now, mask};
    return nullptr;
  }
};

/// Words of a piece of memory.
class Shadow {
public:
  explicit Shadow(uint64_t bytes = 0) : words_((bytes + 3) / 4 + 1) {}

  /// Calls `touch(word, mask)` for each word of [offset, offset + bytes) until one gives an access.
  template <typename Touch> const Access *forWords(uint64_t offset, int bytes, Touch touch) {
    uint64_t end = offset + uint64_t(bytes);
    while (offset < end) {
      uint64_t word = offset / 4, first = offset % 4, last = std::min<uint64_t>(4, end - word * 4);
      uint8_t mask = uint8_t(((1u << last) - 1) & ~((1u << first) - 1));
      if (const Access *found = touch(words_[word], mask))
        return found;
      offset = (word + 1) * 4;
    }
    return nullptr;
  }

private:
  std::vector<Word> words_;
};

} // namespace lstmc::gpu
