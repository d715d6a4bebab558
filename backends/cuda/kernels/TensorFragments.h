// What the recurrent kernels of tensor cores share.
#pragma once

#include "backends/cuda/kernels/RecurrenceCell.h"
#include "backends/cuda/kernels/RecurrenceTensor.h"
#include "backends/cuda/kernels/TensorCores.h"

namespace lstmc::gpu {

/// What a lane has of 16 rows and 16 terms of a matrix.
struct alignas(16) Fragment {
  uint32_t words[4];
};

/// `number(row, term)` of a lane's words, for the group of terms that begins at `first`.
template <typename Rule, typename Number>
LSTMC_DEVICE Fragment fragmentOf(int64_t first, Number number) {
  const int group = laneIndex() / 4, place = laneIndex() % 4;
  Fragment fragment;
  for (int i = 0; i < 4; ++i) {
    const int row = group + i % 2 * 8;
    const int64_t term = first + (place + i / 2 * 4) * 2;
    fragment.words[i] = Rule::word(number(row, term), number(row, term + 1));
  }
  return fragment;
}

/// Numbers of 16 bits in shared memory, as the second operand of products: columns are sequences.
struct ColumnWords {
  Shared<uint32_t> words;
  int stride;

  /// The lane's words of a group of terms.
  LSTMC_DEVICE void load(int group, uint32_t (&b)[2]) const {
    const int at = laneIndex() / 4 * stride + group * (kTensorDepth / 2) + laneIndex() % 4;
    b[0] = words.load(at);
    b[1] = words.load(at + 4);
  }
  LSTMC_DEVICE void clear() const {
    for (int i = threadIndex(); i < stride * kTensorRows; i += blockThreads())
      words.store(i, 0);
  }
};

/// Two neighbouring lanes of a warp's groups have neighbouring terms, `term` that of this lane,
/// each for columns 2 place and 2 place + 1: writes one word of each column into all blocks'
/// memory. Terms from `end` on are not written. All lanes of the warp call it.
template <typename Rule>
LSTMC_DEVICE void giveToCluster(const ColumnWords &to, int64_t term, int64_t end, float first,
                                float second) {
  const int odd = laneIndex() / 4 % 2, column = laneIndex() % 4 * 2 + odd;
  const float other = shuffleXor(odd ? first : second, 4);
  const uint32_t word = odd ? Rule::word(other, second) : Rule::word(first, other);
  if (term - odd < end)
    for (int block = 0; block < clusterBlocks(); ++block)
      to.words.storeTo(block, column * to.stride + int(term - odd) / 2, word);
}

} // namespace lstmc::gpu
