#include "backends/cuda/kernels/RecurrenceCell.h"
#include "backends/cuda/kernels/RecurrenceOnChip.h"

namespace lstmc::gpu {

namespace {

template <typename V, int rows>
LSTMC_DEVICE void backwardOnChip(const RnnBackwardOnChipArguments &on) {
  const RnnBackwardArguments &a = on.layer;
  const LayerShape &s = a.shape;
  const int units = int(s.units), wide = units * s.gates, stride = on.chip.share;
  const int firstUnit = clusterRank() * stride, left = units - firstUnit;
  const int own = left < 0 ? 0 : left < stride ? left : stride;
  const int64_t firstRow = blockIndex() / clusterBlocks() * rows;
  const int count = int(s.batch - firstRow < rows ? s.batch - firstRow : rows);
  const SharedValues<V> weights = sharedValues<V>(0, wide * stride),
                        dh = sharedValues<V>(wide * stride, stride * rows),
                        dc = sharedValues<V>((wide + rows) * stride, stride * rows),
                        hidden = sharedValues<V>((wide + 2 * rows) * stride, 2 * wide * rows);

  const auto rt = a.rt.as<const typename V::Stored>();
  for (int i = threadIndex(); i < wide * own; i += blockThreads())
    weights.store(i / own * stride + i % own,
                  {rt.load(packedAt(firstUnit + i % own, i / own, wide, 0, 1))});
  // From here on a thread has the same units of the same sequences at every step, so that only
  // `hidden` needs a barrier.
  const int pairs = own * count;
  for (int i = threadIndex(); i < pairs; i += blockThreads()) {
    dh.store(i, loadOr0<V>(a.dhN, firstRow + i / own, firstUnit + i % own));
    dc.store(i, loadOr0<V>(a.dcN, firstRow + i / own, firstUnit + i % own));
  }
  syncCluster();

  for (int64_t index = s.steps - 1; index >= 0; --index) {
    const int64_t t = s.step(index);
    // Blocks that are ahead write the one half, those that are late still read the other.
    const int half = int(index % 2) * wide * rows;
    for (int i = threadIndex(); i < pairs; i += blockThreads()) {
      const int row = i / own, u = firstUnit + i % own;
      const int64_t b = firstRow + row, end = lengthOf(a.length, b, s.steps);
      const CellGradient<V> cell = gradientAt(a, t, b, u, end, dh.load(i), dc.load(i));
      if (t >= end)
        continue;
      dh.store(i, cell.direct);
      dc.store(i, cell.dc);
      for (int g = 0; g < kMaxGates; ++g)
        if (g < s.gates)
          for (int block = 0; block < clusterBlocks(); ++block)
            hidden.numbers.storeTo(block, half + (g * units + u) * rows + row, cell.recurrent[g].v);
    }
    syncCluster();
    for (int i = threadIndex(); i < pairs; i += blockThreads()) {
      const int row = i / own, u = i % own;
      if (t >= lengthOf(a.length, firstRow + row, s.steps))
        continue;
      V sum = {0};
      for (int k = 0; k < wide; ++k)
        sum = multiplyAdd(hidden.load(half + k * rows + row), weights.load(k * stride + u), sum);
      dh.store(i, s.mode == RnnMode::Gru ? sum + dh.load(i) : sum);
    }
  }

  for (int i = threadIndex(); i < pairs; i += blockThreads()) {
    if (a.dh0)
      storeAt(a.dh0, dh.load(i), firstRow + i / own, firstUnit + i % own);
    if (a.dc0)
      storeAt(a.dc0, dc.load(i), firstRow + i / own, firstUnit + i % own);
  }
}

} // namespace

LSTMC_GPU_KERNEL(lstmc_rnn_backward_on_chip_1_f32, RnnBackwardOnChipArguments, a) {
  backwardOnChip<Float, 1>(a);
}
LSTMC_GPU_KERNEL(lstmc_rnn_backward_on_chip_4_f32, RnnBackwardOnChipArguments, a) {
  backwardOnChip<Float, 4>(a);
}

} // namespace lstmc::gpu
