#include "backends/cuda/kernels/RecurrenceOnChip.h"

#include "backends/cuda/kernels/OnChipSums.h"

namespace lstmc::gpu {

namespace {

using V = Float;

/// A unit of one sequence, which one thread has at all steps.
struct Unit {
  bool there;
  int row;         ///< in the cluster
  int own;         ///< of the block's units
  int64_t b, unit; ///< in the layer
  int64_t length;  ///< real steps of the sequence
  V h, c, bi[kMaxGates], bh[kMaxGates];

  LSTMC_DEVICE Unit(const RnnForwardOnChipArguments &on, int64_t firstRow, int rows) {
    const RnnForwardArguments &a = on.layer;
    const LayerShape &s = a.shape;
    row = threadIndex() / on.chip.share;
    own = threadIndex() % on.chip.share;
    b = firstRow + row;
    unit = int64_t(clusterRank()) * on.chip.share + own;
    there = row < rows && b < s.batch && unit < s.units;
    length = there ? lengthOf(a.length, b, s.steps) : 0;
    h = there ? loadOr0<V>(a.h0, b, unit) : V{0};
    c = there ? loadOr0<V>(a.c0, b, unit) : V{0};
    LSTMC_UNROLL
    for (int g = 0; g < kMaxGates; ++g) {
      const bool gate = there && g < s.gates;
      bi[g] = gate && a.bi ? loadAt<V>(a.bi, g * s.units + unit) : V{0};
      bh[g] = gate && a.bh ? loadAt<V>(a.bh, g * s.units + unit) : V{0};
    }
  }

  /// W x at step t.
  LSTMC_DEVICE void loadProjected(const RnnForwardOnChipArguments &on, int64_t t,
                                  V (&input)[kMaxGates]) const {
    LSTMC_UNROLL
    for (int g = 0; g < kMaxGates; ++g)
      if (t < length && g < on.layer.shape.gates)
        input[g] = loadAt<V>(on.projected, t, b, g * on.layer.shape.units + unit);
  }

  /// Step t; `recurrent(g)` is R h of a gate. Nothing is stored yet.
  template <typename Recurrent>
  LSTMC_DEVICE Cell<V> advanced(const RnnForwardArguments &a, int64_t t,
                                const V (&input)[kMaxGates], Recurrent recurrent) const {
    Cell<V> cell = {};
    cell.h = h;
    cell.c = c;
    if (t < length) {
      LSTMC_UNROLL
      for (int g = 0; g < kMaxGates; ++g)
        if (g < a.shape.gates) {
          cell.input[g] = a.bi ? input[g] + bi[g] : input[g];
          cell.recurrent[g] = a.bh ? recurrent(g) + bh[g] : recurrent(g);
        }
      cell.advance(a.shape.mode);
    }
    return cell;
  }
};

template <int rows, int threads>
LSTMC_DEVICE void forwardOnChip(const RnnForwardOnChipArguments &on) {
  const RnnForwardArguments &a = on.layer;
  const LayerShape &s = a.shape;
  const ChipSums all = forwardSums(s.units, s.gates, on.chip, threads);
  const int share = on.chip.share, firstUnit = clusterRank() * share;
  const int64_t firstRow = blockIndex() / clusterBlocks() * rows;
  const auto r = a.r.as<const float>();
  // A sum is [gate, unit of the block]: neighbours are neighbours in memory.
  const OnChipSums<rows, threads> sums(
      all, [&](int sum) { return firstUnit + sum % share < s.units; },
      [&](int sum, int term) {
        return r.load(packedAt(firstUnit + sum % share, term, s.units, sum / share, s.gates));
      });
  const auto h = [&](int64_t index) { return factorsOf<rows>(all, index); };
  const int64_t longest = longestOf(a.length, firstRow, rows, s);
  Unit own(on, firstRow, rows);
  h(0).clear();
  h(1).clear();
  syncCluster();
  if (own.there)
    h(on.begin).giveToCluster(own.unit, own.row, own.h);
  syncCluster();
  V input[kMaxGates] = {};
  own.loadProjected(on, s.step(on.begin), input);
  for (int64_t index = on.begin; index < on.end; ++index) {
    const int64_t t = s.step(index);
    if (t < longest)
      sums.add(h(index));
    Cell<V> cell = {};
    if (own.there) {
      cell =
          own.advanced(a, t, input, [&](int g) { return sums.of(own.row, g * share + own.own); });
      h(index + 1).giveToCluster(own.unit, own.row, cell.h);
    }
    // Others wait for h alone. What is stored, and what comes late from memory, is for later.
    arriveAtCluster();
    if (own.there) {
      storeStep(a, cell, own.h, t < own.length, t, own.b, own.unit);
      own.h = cell.h;
      own.c = cell.c;
    }
    if (index + 1 < on.end)
      own.loadProjected(on, s.step(index + 1), input);
    waitForCluster();
  }
  if (own.there && a.hN)
    storeAt(a.hN, own.h, own.b, own.unit);
  if (own.there && a.cN)
    storeAt(a.cN, own.c, own.b, own.unit);
}

} // namespace

#define LSTMC_FORWARD(ROWS, THREADS)                                                               \
  LSTMC_GPU_KERNEL_OF(THREADS, lstmc_rnn_forward_on_chip_##ROWS##_##THREADS##_f32,                 \
                      RnnForwardOnChipArguments, a) {                                              \
    forwardOnChip<ROWS, THREADS>(a);                                                               \
  }
LSTMC_FORWARD(1, 256)
LSTMC_FORWARD(4, 256)
LSTMC_FORWARD(1, 512)
LSTMC_FORWARD(4, 512)
#undef LSTMC_FORWARD

} // namespace lstmc::gpu
