#include "executor/data/Shuffle.h"

#include <numeric>
#include <utility>

#include "executor/base/Philox.h"

namespace lstmc::data {

/// No op of a network has this ordinal, so the data order shares no random words with an op.
constexpr uint32_t kDataOrdinal = 0xffffffff;

std::vector<int64_t> shuffledOrder(int64_t count, uint64_t seed, int64_t epoch) {
  std::vector<int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  for (int64_t i = count - 1; i > 0; --i) {
    // Uses 64 random bits, so that the bias is below count / 2^64.
    PhiloxBlock words = randomBlock(seed, uint64_t(i), kDataOrdinal, uint32_t(epoch));
    uint64_t word = uint64_t(words[0]) << 32 | words[1];
    auto other = int64_t(static_cast<unsigned __int128>(word) * uint64_t(i + 1) >> 64);
    std::swap(order[std::size_t(i)], order[std::size_t(other)]);
  }
  return order;
}

} // namespace lstmc::data
