#include "backends/cuda/kernels/RecurrenceTensor.h"

#include "backends/cuda/kernels/TensorFragments.h"

namespace lstmc::gpu {

namespace {

using V = Float;

/// A warp's units and their weights.
template <typename Rule> struct Layer {
  const RnnForwardArguments &a;
  int units, gates;
  int groups, keptGroups; ///< of terms; those of them in registers
  int64_t row;            ///< the first sequence of the cluster
  int count;              ///< of its sequences
  int warpUnit, unit;     ///< the first of the warp, that of the lane
  Shared<Fragment> fragments;
  int ofWarp;          ///< the warp's first
  int hBytes, hStride; ///< where h is in shared memory
  Fragment kept[kForwardKept][2];

  LSTMC_DEVICE explicit Layer(const RnnForwardOnChipArguments &on) : a(on.layer) {
    const LayerShape &s = a.shape;
    units = int(s.units);
    gates = s.gates;
    groups = int(tensorGroups(units));
    keptGroups = groups < kForwardKept ? groups : kForwardKept;
    row = blockIndex() / clusterBlocks() * kTensorRows;
    count = int(s.batch - row < kTensorRows ? s.batch - row : kTensorRows);
    warpUnit = clusterRank() * on.chip.share + warpIndex() * kForwardUnits;
    unit = warpUnit + laneIndex() / 4;
    hBytes = int(forwardFragmentBytes(units, on.chip));
    hStride = int(tensorStride(groups));
    fragments = shared<Fragment>(0, hBytes / int(sizeof(Fragment)));
    ofWarp = 2 * kWarp * (groups - keptGroups) * warpIndex();
  }

  /// Two, by the number of the step; an array of them would not stay in registers.
  LSTMC_DEVICE ColumnWords h(int64_t index) const {
    const int numbers = kTensorRows * hStride;
    return {shared<uint32_t>(hBytes + int(index % 2) * 4 * numbers, numbers), hStride};
  }

  /// From memory: gates 2 half and 2 half + 1 of the warp's units; what is not there is 0.
  LSTMC_DEVICE Fragment weights(int group, int half) const {
    const auto numbers = a.r.as<const float>();
    return fragmentOf<Rule>(int64_t(group) * kTensorDepth, [&](int line, int64_t term) {
      const int gate = 2 * half + line / 8, of = warpUnit + line % 8;
      return gate < gates && of < units && term < units
                 ? numbers.load(packedAt(of, term, units, gate, gates))
                 : 0.0f;
    });
  }
  LSTMC_DEVICE int placeOf(int group, int half) const {
    return ofWarp + ((group - keptGroups) * 2 + half) * kWarp + laneIndex();
  }

  LSTMC_DEVICE void begin(int64_t index) {
    LSTMC_UNROLL
    for (int group = 0; group < kForwardKept; ++group)
      LSTMC_UNROLL
    for (int half = 0; half < 2; ++half)
      if (group < keptGroups)
        kept[group][half] = weights(group, half);
    for (int group = keptGroups; group < groups; ++group)
      for (int half = 0; half < 2; ++half)
        fragments.store(placeOf(group, half), weights(group, half));
    h(0).clear();
    h(1).clear();
    syncThreads();
    const int words = (units + 1) / 2;
    for (int i = threadIndex(); a.h0 && i < count * words; i += blockThreads()) {
      const int64_t b = row + i / words, u = i % words * 2;
      const float second = u + 1 < units ? loadAt<V>(a.h0, b, u + 1).v : 0;
      h(index).words.store(i / words * hStride + i % words,
                           Rule::word(loadAt<V>(a.h0, b, u).v, second));
    }
    syncCluster();
  }

  /// R h, groups of terms ascending: as a product that goes step by step.
  LSTMC_DEVICE void multiply(int64_t index, float (&sum)[2][4]) const {
    const ColumnWords now = h(index);
    uint32_t b[2];
    LSTMC_UNROLL
    for (int group = 0; group < kForwardKept; ++group)
      if (group < keptGroups) {
        now.load(group, b);
        LSTMC_UNROLL
        for (int half = 0; half < 2; ++half)
          Rule::multiply(sum[half], kept[group][half].words, b);
      }
    for (int group = keptGroups; group < groups; ++group) {
      now.load(group, b);
      LSTMC_UNROLL
      for (int half = 0; half < 2; ++half)
        Rule::multiply(sum[half], fragments.load(placeOf(group, half)).words, b);
    }
  }
};

/// What a lane has of two sequences: which are there, its unit's state and the biases.
struct Lane {
  bool there[2];
  V h[2], c[2], bi[kMaxGates], bh[kMaxGates];
};

/// W x of the lane's unit and sequences.
template <typename Rule>
LSTMC_DEVICE void loadProjected(const Layer<Rule> &layer, const RnnForwardOnChipArguments &on,
                                const Lane &lane, int64_t index, float (&input)[2][4]) {
  const LayerShape &s = layer.a.shape;
  if (index >= on.end)
    return;
  LSTMC_UNROLL
  for (int j = 0; j < 2; ++j)
    LSTMC_UNROLL
  for (int g = 0; g < kMaxGates; ++g)
    if (lane.there[j] && g < s.gates)
      input[g / 2][g % 2 * 2 + j] =
          loadAt<V>(on.projected, s.step(index), layer.row + laneIndex() % 4 * 2 + j,
                    g * s.units + layer.unit)
              .v;
}

/// The cell of the lane's unit, of its sequence j. Nothing is stored yet.
LSTMC_DEVICE Cell<V> advanced(const LayerShape &s, const Lane &lane, int j, bool counts,
                              const float (&input)[2][4], const float (&recurrent)[2][4]) {
  Cell<V> cell = {};
  cell.h = lane.h[j];
  cell.c = lane.c[j];
  if (counts) {
    LSTMC_UNROLL
    for (int g = 0; g < kMaxGates; ++g) {
      cell.input[g] = V{input[g / 2][g % 2 * 2 + j]} + lane.bi[g];
      cell.recurrent[g] = V{recurrent[g / 2][g % 2 * 2 + j]} + lane.bh[g];
    }
    cell.advance(s.mode);
  }
  return cell;
}

template <typename Rule> LSTMC_DEVICE void forward(const RnnForwardOnChipArguments &on) {
  const RnnForwardArguments &a = on.layer;
  const LayerShape &s = a.shape;
  Layer<Rule> layer(on);
  const int64_t longest = longestOf(a.length, layer.row, layer.count, s);
  int64_t length[2];
  Lane lane = {};
  LSTMC_UNROLL
  for (int j = 0; j < 2; ++j) {
    const int i = laneIndex() % 4 * 2 + j;
    lane.there[j] = i < layer.count && layer.unit < layer.units;
    length[j] = lane.there[j] ? lengthOf(a.length, layer.row + i, s.steps) : 0;
    if (lane.there[j]) {
      lane.h[j] = loadOr0<V>(a.h0, layer.row + i, layer.unit);
      lane.c[j] = loadOr0<V>(a.c0, layer.row + i, layer.unit);
    }
  }
  LSTMC_UNROLL
  for (int g = 0; g < kMaxGates; ++g)
    if (g < s.gates && layer.unit < layer.units) {
      lane.bi[g] = a.bi ? loadAt<V>(a.bi, g * s.units + layer.unit) : V{0};
      lane.bh[g] = a.bh ? loadAt<V>(a.bh, g * s.units + layer.unit) : V{0};
    }
  layer.begin(on.begin);
  float input[2][4] = {};
  loadProjected(layer, on, lane, on.begin, input);
  for (int64_t index = on.begin; index < on.end; ++index) {
    const int64_t t = s.step(index);
    float recurrent[2][4] = {};
    if (t < longest && layer.warpUnit < layer.units)
      layer.multiply(index, recurrent);
    Cell<V> cells[2] = {};
    LSTMC_UNROLL
    for (int j = 0; j < 2; ++j)
      if (lane.there[j])
        cells[j] = advanced(s, lane, j, t < length[j], input, recurrent);
    giveToCluster<Rule>(layer.h(index + 1), layer.unit, layer.units, cells[0].h.v, cells[1].h.v);
    // Others wait for h alone. What is stored, and what comes late from memory, is for later.
    arriveAtCluster();
    LSTMC_UNROLL
    for (int j = 0; j < 2; ++j)
      if (lane.there[j]) {
        storeStep(a, cells[j], lane.h[j], t < length[j], t, layer.row + laneIndex() % 4 * 2 + j,
                  layer.unit);
        lane.h[j] = cells[j].h;
        lane.c[j] = cells[j].c;
      }
    loadProjected(layer, on, lane, index + 1, input);
    waitForCluster();
  }
  LSTMC_UNROLL
  for (int j = 0; j < 2; ++j) {
    const int64_t b = layer.row + laneIndex() % 4 * 2 + j;
    if (lane.there[j] && a.hN)
      storeAt(a.hN, lane.h[j], b, layer.unit);
    if (lane.there[j] && a.cN)
      storeAt(a.cN, lane.c[j], b, layer.unit);
  }
}

} // namespace

LSTMC_GPU_KERNEL_OF(kTensorThreads, lstmc_rnn_forward_bf16, RnnForwardOnChipArguments, a) {
  forward<Bf16>(a);
}
LSTMC_GPU_KERNEL_OF(kTensorThreads, lstmc_rnn_forward_fp16, RnnForwardOnChipArguments, a) {
  forward<Fp16>(a);
}

} // namespace lstmc::gpu
