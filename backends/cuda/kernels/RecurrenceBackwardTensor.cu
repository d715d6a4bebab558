#include "backends/cuda/kernels/RecurrenceTensor.h"
#include "backends/cuda/kernels/TensorFragments.h"

namespace lstmc::gpu {

namespace {

using V = Float;

/// Sums that go on side by side, each of every fourth group of terms, since a product of tensor
/// cores takes long to come out.
constexpr int kChains = 4;
static_assert(kBackwardKept % kChains == 0);

/// The weights that lead back to the 16 units of two warps. Terms are [gates, units], the units of
/// a gate padded to whole groups; a warp has half of the groups, and the cells of half of the
/// units.
template <typename Rule> struct Back {
  const RnnBackwardArguments &a;
  int units, wide, padded;
  int half;                           ///< which of the two warps
  int firstGroup, groups, keptGroups; ///< of the warp
  int pairUnit, unit;                 ///< the first of the two warps, that of the lane
  Shared<Fragment> fragments;
  int ofWarp;
  Shared<float> parts;
  int hiddenBytes, stride;
  Fragment kept[kBackwardKept];

  LSTMC_DEVICE explicit Back(const RnnBackwardOnChipArguments &on) : a(on.layer) {
    const LayerShape &s = a.shape;
    units = int(s.units);
    wide = units * s.gates;
    padded = int(tensorGroups(units)) * kTensorDepth;
    half = warpIndex() % 2;
    const int all = int(tensorGroups(units)) * s.gates, most = int(backwardHalf(units, s.gates));
    firstGroup = half * most;
    groups = half ? all - most : most;
    keptGroups = groups < kBackwardKept ? groups : kBackwardKept;
    pairUnit = clusterRank() * on.chip.share + warpIndex() / 2 * 2 * kBackwardUnits;
    unit = pairUnit + half * kBackwardUnits + laneIndex() / 4;
    const int fragmentBytes = int(backwardFragmentBytes(units, s.gates, on.chip));
    const int partBytes = int(backwardPartBytes(on.chip));
    fragments = shared<Fragment>(0, fragmentBytes / int(sizeof(Fragment)));
    ofWarp = (most > kBackwardKept ? most - kBackwardKept : 0) * kWarp * warpIndex();
    parts = shared<float>(fragmentBytes, partBytes / int(sizeof(float)));
    hiddenBytes = fragmentBytes + partBytes;
    stride = int(tensorStride(all));
  }

  /// Blocks that are ahead write the one, those that are late still read the other.
  LSTMC_DEVICE ColumnWords hidden(int64_t index) const {
    const int numbers = kTensorRows * stride;
    return {shared<uint32_t>(hiddenBytes + int(index % 2) * 4 * numbers, numbers), stride};
  }

  LSTMC_DEVICE Fragment weights(int group) const {
    const auto numbers = a.rt.as<const float>();
    return fragmentOf<Rule>(
        int64_t(firstGroup + group) * kTensorDepth, [&](int line, int64_t term) {
          const int64_t gate = term / padded, of = term % padded;
          return pairUnit + line < units && of < units
                     ? numbers.load(packedAt(pairUnit + line, gate * units + of, wide, 0, 1))
                     : 0.0f;
        });
  }
  LSTMC_DEVICE int placeOf(int group) const {
    return ofWarp + (group - keptGroups) * kWarp + laneIndex();
  }
  LSTMC_DEVICE void begin() {
    LSTMC_UNROLL
    for (int group = 0; group < kBackwardKept; ++group)
      if (group < keptGroups)
        kept[group] = weights(group);
    for (int group = keptGroups; group < groups; ++group)
      fragments.store(placeOf(group), weights(group));
    hidden(0).clear();
    hidden(1).clear();
    syncCluster();
  }

  /// The warp's groups, for all 16 units.
  LSTMC_DEVICE void multiply(const ColumnWords &now, float (&sum)[4]) const {
    float chain[kChains][4] = {};
    uint32_t b[2];
    LSTMC_UNROLL
    for (int group = 0; group < kBackwardKept; ++group)
      if (group < keptGroups) {
        now.load(firstGroup + group, b);
        Rule::multiply(chain[group % kChains], kept[group].words, b);
      }
    for (int first = keptGroups; first < groups; first += kChains)
      LSTMC_UNROLL
    for (int i = 0; i < kChains; ++i)
      if (first + i < groups) {
        now.load(firstGroup + first + i, b);
        Rule::multiply(chain[i], fragments.load(placeOf(first + i)).words, b);
      }
    LSTMC_UNROLL
    for (int i = 0; i < 4; ++i)
      sum[i] = added(added(chain[0][i], chain[1][i]), added(chain[2][i], chain[3][i]));
  }

  /// The gradients that go through R, of the lane's unit and its two sequences. All threads of the
  /// block call it.
  LSTMC_DEVICE void through(const ColumnWords &now, float (&sum)[2]) const {
    float all[4] = {};
    if (pairUnit < units)
      multiply(now, all);
    auto place = [&](int warp, int j) { return (warp * 2 + j) * kWarp + laneIndex(); };
    LSTMC_UNROLL
    for (int j = 0; j < 2; ++j)
      parts.store(place(warpIndex(), j), half ? all[j] : all[2 + j]);
    syncThreads();
    LSTMC_UNROLL
    for (int j = 0; j < 2; ++j) {
      const float other = parts.load(place(warpIndex() ^ 1, j));
      sum[j] = half ? added(other, all[2 + j]) : added(all[j], other);
    }
  }
};

template <typename Rule> LSTMC_DEVICE void backward(const RnnBackwardOnChipArguments &on) {
  const RnnBackwardArguments &a = on.layer;
  const LayerShape &s = a.shape;
  Back<Rule> back(on);
  const int64_t row = blockIndex() / clusterBlocks() * kTensorRows;
  const int64_t longest = longestOf(a.length, row, kTensorRows, s);
  const int64_t firstRow = row + laneIndex() % 4 * 2, unit = back.unit;
  V dh[2], dc[2];
  bool there[2];
  int64_t length[2];
  LSTMC_UNROLL
  for (int j = 0; j < 2; ++j) {
    const int64_t b = firstRow + j;
    there[j] = b < s.batch && unit < s.units;
    dh[j] = there[j] ? loadOr0<V>(a.dhN, b, unit) : V{0};
    dc[j] = there[j] ? loadOr0<V>(a.dcN, b, unit) : V{0};
    length[j] = there[j] ? lengthOf(a.length, b, s.steps) : 0;
  }
  back.begin();
  StepBack<V> ahead[2] = {};
  const auto load = [&](int64_t index) {
    LSTMC_UNROLL
    for (int j = 0; j < 2; ++j)
      if (there[j] && index >= 0)
        ahead[j].load(a, s.step(index), firstRow + j, unit, length[j]);
  };
  load(s.steps - 1);
  for (int64_t index = s.steps - 1; index >= 0; --index) {
    const int64_t t = s.step(index);
    const ColumnWords now = back.hidden(index);
    CellGradient<V> cells[2] = {};
    LSTMC_UNROLL
    for (int j = 0; j < 2; ++j) {
      if (!there[j])
        continue;
      cells[j] = ahead[j].gradient(s, t, length[j], dh[j], dc[j]);
      if (t < length[j]) {
        dh[j] = cells[j].direct;
        dc[j] = cells[j].dc;
      }
    }
    LSTMC_UNROLL
    for (int g = 0; g < kMaxGates; ++g)
      if (g < s.gates)
        giveToCluster<Rule>(now, int64_t(g) * back.padded + unit,
                            int64_t(g) * back.padded + back.units, cells[0].recurrent[g].v,
                            cells[1].recurrent[g].v);
    // Others wait for these alone. What is stored, and what comes late from memory, is for later.
    arriveAtCluster();
    LSTMC_UNROLL
    for (int j = 0; j < 2; ++j)
      if (there[j])
        storeGradients(a, cells[j], t, firstRow + j, unit);
    load(index - 1);
    waitForCluster();
    if (t < longest) {
      float sum[2];
      back.through(now, sum);
      LSTMC_UNROLL
      for (int j = 0; j < 2; ++j)
        if (there[j] && t < length[j])
          dh[j] = s.mode == RnnMode::Gru ? V{sum[j]} + dh[j] : V{sum[j]};
    }
  }
  LSTMC_UNROLL
  for (int j = 0; j < 2; ++j) {
    if (there[j] && a.dh0)
      storeAt(a.dh0, dh[j], firstRow + j, unit);
    if (there[j] && a.dc0)
      storeAt(a.dc0, dc[j], firstRow + j, unit);
  }
}

} // namespace

LSTMC_GPU_KERNEL_OF(kTensorThreads, lstmc_rnn_backward_bf16, RnnBackwardOnChipArguments, a) {
  backward<Bf16>(a);
}
LSTMC_GPU_KERNEL_OF(kTensorThreads, lstmc_rnn_backward_fp16, RnnBackwardOnChipArguments, a) {
  backward<Fp16>(a);
}

} // namespace lstmc::gpu
