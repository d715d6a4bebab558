// The order of samples in an epoch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lstmc::data {

/// A permutation of [0, count) that depends on seed and epoch alone: Fisher and Yates from the
/// back, word i of Philox(seed; i, ordinal 2^32-1, epoch) choosing among the first i + 1.
std::vector<int64_t> shuffledOrder(int64_t count, uint64_t seed, int64_t epoch);

/// Samples of an epoch in the order they are fed: shuffled anew each epoch, or ascending.
class SampleOrder {
public:
  SampleOrder(int64_t count, bool shuffle, uint64_t seed)
      : count_(count), shuffle_(shuffle), seed_(seed) {}
  int64_t count() const { return count_; }
  /// The sample at `place` of `epoch`.
  int64_t at(int64_t epoch, int64_t place) {
    if (!shuffle_)
      return place;
    if (epoch != epoch_) {
      order_ = shuffledOrder(count_, seed_, epoch);
      epoch_ = epoch;
    }
    return order_[std::size_t(place)];
  }

private:
  int64_t count_;
  bool shuffle_;
  uint64_t seed_;
  int64_t epoch_ = -1;
  std::vector<int64_t> order_;
};

} // namespace lstmc::data
