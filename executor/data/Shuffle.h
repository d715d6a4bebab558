// The order of samples in an epoch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lstmc::data {

/// A permutation of [0, count) that depends only on seed and epoch: the shuffle of Fisher and Yates
/// from the last element down. Word i of Philox(seed; i, ordinal 2^32-1, epoch) chooses one of the
/// first i + 1.
std::vector<int64_t> shuffledOrder(int64_t count, uint64_t seed, int64_t epoch);

/// The order of an epoch's samples: a new shuffle in each epoch, or ascending.
class SampleOrder {
public:
  SampleOrder(int64_t count, bool shuffle, uint64_t seed)
      : count_(count), shuffle_(shuffle), seed_(seed) {}
  int64_t count() const { return count_; }
  bool shuffles() const { return shuffle_; }
  /// Feed::whyIndependent of batches in this order; `what` they are of.
  std::string whyIndependent(std::string_view what) const {
    return shuffle_ ? "the order of its " + std::string(what) + " is drawn: shuffle=no keeps it"
                    : std::string();
  }
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
