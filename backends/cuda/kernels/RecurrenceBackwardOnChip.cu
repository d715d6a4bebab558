#include "backends/cuda/kernels/OnChipSums.h"

namespace lstmc::gpu {

namespace {

using V = Float;

template <int rows, int threads>
LSTMC_DEVICE void backwardOnChip(const RnnBackwardOnChipArguments &on) {
  const RnnBackwardArguments &a = on.layer;
  const LayerShape &s = a.shape;
  const ChipSums all = backwardSums(s.units, s.gates, on.chip, threads);
  const int share = on.chip.share, firstUnit = clusterRank() * share;
  const int64_t firstRow = blockIndex() / clusterBlocks() * rows, wide = all.terms;
  const auto rt = a.rt.as<const float>();
  const OnChipSums<rows, threads> sums(
      all, [&](int sum) { return firstUnit + sum < s.units; },
      [&](int sum, int term) { return rt.load(packedAt(firstUnit + sum, term, wide, 0, 1)); });
  // The gradients of R h + bh. Blocks that are ahead write the one, those that are late still read
  // the other.
  const auto hidden = [&](int64_t index) { return factorsOf<rows>(all, index); };
  const int64_t longest = longestOf(a.length, firstRow, rows, s);
  // A thread has the same unit of the same sequence at every step.
  const int row = threadIndex() / share, own = threadIndex() % share;
  const int64_t b = firstRow + row, unit = firstUnit + own;
  const bool there = row < rows && b < s.batch && unit < s.units;
  const int64_t end = there ? lengthOf(a.length, b, s.steps) : 0;
  V dh = there ? loadOr0<V>(a.dhN, b, unit) : V{0}, dc = there ? loadOr0<V>(a.dcN, b, unit) : V{0};
  hidden(0).clear();
  hidden(1).clear();
  syncCluster();
  StepBack<V> ahead = {};
  if (there)
    ahead.load(a, s.step(s.steps - 1), b, unit, end);
  for (int64_t index = s.steps - 1; index >= 0; --index) {
    const int64_t t = s.step(index);
    CellGradient<V> cell = {};
    if (there) {
      cell = ahead.gradient(s, t, end, dh, dc);
      if (t < end) {
        dh = cell.direct;
        dc = cell.dc;
        LSTMC_UNROLL
        for (int g = 0; g < kMaxGates; ++g)
          if (g < s.gates)
            hidden(index).giveToCluster(g * s.units + unit, row, cell.recurrent[g]);
      }
    }
    // Others wait for these alone. What is stored, and what comes late from memory, is for later.
    arriveAtCluster();
    if (there)
      storeGradients(a, cell, t, b, unit);
    if (there && index > 0)
      ahead.load(a, s.step(index - 1), b, unit, end);
    waitForCluster();
    if (t < longest)
      sums.add(hidden(index));
    if (t < end)
      dh = s.mode == RnnMode::Gru ? sums.of(row, own) + dh : sums.of(row, own);
  }
  if (there && a.dh0)
    storeAt(a.dh0, dh, b, unit);
  if (there && a.dc0)
    storeAt(a.dc0, dc, b, unit);
}

} // namespace

#define LSTMC_BACKWARD(ROWS, THREADS)                                                              \
  LSTMC_GPU_KERNEL_OF(THREADS, lstmc_rnn_backward_on_chip_##ROWS##_##THREADS##_f32,                \
                      RnnBackwardOnChipArguments, a) {                                             \
    backwardOnChip<ROWS, THREADS>(a);                                                              \
  }
LSTMC_BACKWARD(1, 256)
LSTMC_BACKWARD(4, 256)
LSTMC_BACKWARD(1, 512)
LSTMC_BACKWARD(4, 512)
#undef LSTMC_BACKWARD

} // namespace lstmc::gpu
