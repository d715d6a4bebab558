#include "backends/cuda/kernels/RecurrenceTensor.h"
#include "backends/cuda/kernels/TensorFragments.h"

namespace lstmc::gpu {

namespace {

using V = Float;

/// Sums that go on side by side, each of every fourth group of terms, since a product of tensor
/// cores takes long to come out.
constexpr int kChains = 4;
static_assert(kBackwardKept % kChains == 0);

/// The weights that lead back to a warp's units. Terms are [gates, units], the units of a gate
/// padded to whole groups.
template <typename Rule> struct Back {
  const RnnBackwardArguments &a;
  int units, wide, padded, groups, keptGroups;
  int warpUnit;
  Shared<Fragment> fragments;
  int ofWarp;
  int hiddenBytes, stride;
  Fragment kept[kBackwardKept];

  LSTMC_DEVICE explicit Back(const RnnBackwardTensorArguments &on) : a(on.layer) {
    const LayerShape &s = a.shape;
    units = int(s.units);
    wide = units * s.gates;
    padded = int(tensorGroups(units)) * kTensorDepth;
    groups = int(tensorGroups(units)) * s.gates;
    keptGroups = groups < kBackwardKept ? groups : kBackwardKept;
    warpUnit = clusterRank() * on.chip.share + warpIndex() * kBackwardUnits;
    const int fragmentBytes = int(backwardFragmentBytes(units, s.gates, on.chip));
    fragments = shared<Fragment>(0, fragmentBytes / int(sizeof(Fragment)));
    ofWarp = kWarp * (groups - keptGroups) * warpIndex();
    hiddenBytes = fragmentBytes;
    stride = int(tensorStride(groups));
  }

  /// Blocks that are ahead write the one, those that are late still read the other.
  LSTMC_DEVICE ColumnWords hidden(int64_t index) const {
    const int numbers = kTensorRows * stride;
    return {shared<uint32_t>(hiddenBytes + int(index % 2) * 4 * numbers, numbers), stride};
  }
  LSTMC_DEVICE int unitOf(int part) const { return warpUnit + part * 8 + laneIndex() / 4; }

  LSTMC_DEVICE Fragment weights(int group) const {
    const auto numbers = a.rt.as<const float>();
    return fragmentOf<Rule>(int64_t(group) * kTensorDepth, [&](int line, int64_t term) {
      const int64_t gate = term / padded, of = term % padded;
      return warpUnit + line < units && of < units
                 ? numbers.load(packedAt(warpUnit + line, gate * units + of, wide, 0, 1))
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

  /// The gradients that go through R, of the lane's two units and two sequences.
  LSTMC_DEVICE void multiply(const ColumnWords &now, float (&sum)[4]) const {
    float chain[kChains][4] = {};
    uint32_t b[2];
    LSTMC_UNROLL
    for (int group = 0; group < kBackwardKept; ++group)
      if (group < keptGroups) {
        now.load(group, b);
        Rule::multiply(chain[group % kChains], kept[group].words, b);
      }
    for (int first = keptGroups; first < groups; first += kChains)
      LSTMC_UNROLL
    for (int i = 0; i < kChains; ++i)
      if (first + i < groups) {
        now.load(first + i, b);
        Rule::multiply(chain[i], fragments.load(placeOf(first + i)).words, b);
      }
    LSTMC_UNROLL
    for (int i = 0; i < 4; ++i)
      sum[i] = (chain[0][i] + chain[1][i]) + (chain[2][i] + chain[3][i]);
  }
};

template <typename Rule> LSTMC_DEVICE void backward(const RnnBackwardTensorArguments &on) {
  const RnnBackwardArguments &a = on.layer;
  const LayerShape &s = a.shape;
  Back<Rule> back(on);
  const int64_t row = blockIndex() / clusterBlocks() * kTensorRows;
  int64_t longest = 0;
  for (int i = 0; i < kTensorRows; ++i)
    if (row + i < s.batch) {
      const int64_t each = lengthOf(a.length, row + i, s.steps);
      longest = longest < each ? each : longest;
    }
  // Number i of a lane is of unit i / 2 and sequence i % 2 of its own.
  V dh[4], dc[4];
  bool there[4];
  int64_t length[2];
  LSTMC_UNROLL
  for (int i = 0; i < 4; ++i) {
    const int64_t b = row + laneIndex() % 4 * 2 + i % 2, unit = back.unitOf(i / 2);
    there[i] = b < s.batch && unit < s.units;
    dh[i] = there[i] ? loadOr0<V>(a.dhN, b, unit) : V{0};
    dc[i] = there[i] ? loadOr0<V>(a.dcN, b, unit) : V{0};
    length[i % 2] = b < s.batch ? lengthOf(a.length, b, s.steps) : 0;
  }
  back.begin();
  for (int64_t index = s.steps - 1; index >= 0; --index) {
    const int64_t t = s.step(index);
    const ColumnWords now = back.hidden(index);
    LSTMC_UNROLL
    for (int part = 0; part < 2; ++part) {
      V gradients[2][kMaxGates] = {};
      LSTMC_UNROLL
      for (int j = 0; j < 2; ++j) {
        const int i = part * 2 + j;
        if (!there[i])
          continue;
        const CellGradient<V> cell =
            gradientAt(a, t, row + laneIndex() % 4 * 2 + j, int64_t(back.unitOf(part)), length[j],
                       dh[i], dc[i]);
        if (t < length[j]) {
          dh[i] = cell.direct;
          dc[i] = cell.dc;
        }
        LSTMC_UNROLL
        for (int g = 0; g < kMaxGates; ++g)
          gradients[j][g] = cell.recurrent[g];
      }
      LSTMC_UNROLL
      for (int g = 0; g < kMaxGates; ++g)
        if (g < s.gates)
          giveToCluster<Rule>(now, int64_t(g) * back.padded + back.unitOf(part),
                              int64_t(g) * back.padded + back.units, gradients[0][g].v,
                              gradients[1][g].v);
    }
    syncCluster();
    if (t < longest && back.warpUnit < back.units) {
      float sum[4];
      back.multiply(now, sum);
      LSTMC_UNROLL
      for (int i = 0; i < 4; ++i)
        if (there[i] && t < length[i % 2])
          dh[i] = s.mode == RnnMode::Gru ? V{sum[i]} + dh[i] : V{sum[i]};
    }
  }
  LSTMC_UNROLL
  for (int i = 0; i < 4; ++i) {
    const int64_t b = row + laneIndex() % 4 * 2 + i % 2, unit = back.unitOf(i / 2);
    if (there[i] && a.dh0)
      storeAt(a.dh0, dh[i], b, unit);
    if (there[i] && a.dc0)
      storeAt(a.dc0, dc[i], b, unit);
  }
}

} // namespace

LSTMC_GPU_KERNEL_OF(kTensorThreads, lstmc_rnn_backward_bf16, RnnBackwardTensorArguments, a) {
  backward<Bf16>(a);
}
LSTMC_GPU_KERNEL_OF(kTensorThreads, lstmc_rnn_backward_fp16, RnnBackwardTensorArguments, a) {
  backward<Fp16>(a);
}

} // namespace lstmc::gpu
