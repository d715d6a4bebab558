// Records who used a memory place last, and whether that happened before the present access.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace lstmc::gpu {

/// What a thread knows to have happened: all that block b did in epochs below `blocks[b]`, and all
/// that thread t did before its release number `threads[t]`.
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

/// A point in a thread's execution. Epochs count the barriers of the block at which the thread has
/// arrived, warp epochs those of the warp, releases the values that the thread has published. A
/// thread that has arrived at a barrier of its cluster and has not waited yet sees no more than in
/// the epoch before.
struct Moment {
  uint32_t thread = 0, block = 0, warp = 0; ///< numbers within the whole launch
  uint32_t epoch = 0, seen = 0, warpEpoch = 0, release = 0;
};

/// Whether `then` happened before `now`; `known` is what the thread of `now` knows.
inline bool happenedBefore(const Moment &then, const Moment &now, const Clock &known) {
  if (then.thread == now.thread)
    return true;
  if (then.block == now.block &&
      (then.epoch < now.seen || (then.warp == now.warp && then.warpEpoch < now.warpEpoch)))
    return true;
  if (then.block < known.blocks.size() && then.epoch < known.blocks[then.block])
    return true;
  auto published = known.threads.find(then.thread);
  return published != known.threads.end() && then.release < published->second;
}

/// An access to some bytes of a word.
struct Access {
  Moment moment;
  uint8_t bytes = 0;   ///< one bit per byte; 0: no access
  bool ofFlag = false; ///< publishes a value, or waits for one; two of these need no order

  bool conflicts(const Access &next, const Clock &known) const {
    return (bytes & next.bytes) && !(ofFlag && next.ofFlag) &&
           !happenedBefore(moment, next.moment, known);
  }
};

/// The last accesses to a word of four bytes.
struct Word {
  Access writer, reader, earlierReader;

  /// Records a read. Returns an earlier access that did not happen before it, or null if there is
  /// none.
  const Access *read(const Access &now, const Clock &known) {
    if (writer.conflicts(now, known))
      return &writer;
    if (reader.bytes && reader.moment.thread != now.moment.thread)
      earlierReader = reader;
    reader = now;
    return nullptr;
  }
  const Access *write(const Access &now, const Clock &known) {
    for (const Access *access : {&writer, &reader, &earlierReader})
      if (access->conflicts(now, known))
        return access;
    writer = now;
    return nullptr;
  }
};

/// The words of a range of memory, which are made page by page, as they are used.
class Shadow {
public:
  explicit Shadow(uint64_t bytes = 0) : pages_(bytes / 4 / kWordsOfPage + 1) {}

  /// Calls `touch(word, mask)` for each word of [offset, offset + bytes) until it returns an
  /// access.
  template <typename Touch> const Access *forWords(uint64_t offset, int bytes, Touch touch) {
    uint64_t end = offset + uint64_t(bytes);
    while (offset < end) {
      uint64_t word = offset / 4, first = offset % 4, last = std::min<uint64_t>(4, end - word * 4);
      uint8_t mask = uint8_t(((1u << last) - 1) & ~((1u << first) - 1));
      if (const Access *found = touch(at(word), mask))
        return found;
      offset = (word + 1) * 4;
    }
    return nullptr;
  }

private:
  static constexpr uint64_t kWordsOfPage = 128;

  Word &at(uint64_t word) {
    std::unique_ptr<Word[]> &page = pages_[word / kWordsOfPage];
    if (!page)
      page = std::make_unique<Word[]>(kWordsOfPage);
    return page[word % kWordsOfPage];
  }

  std::vector<std::unique_ptr<Word[]>> pages_;
};

} // namespace lstmc::gpu
