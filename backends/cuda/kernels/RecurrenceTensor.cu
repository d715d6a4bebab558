#include "backends/cuda/kernels/RecurrenceTensor.h"

#include "backends/cuda/kernels/TensorFragments.h"

namespace lstmc::gpu {

namespace {

using V = Float;

/// A warp's units and their weights.
template <typename Rule> struct Layer {
  const RnnForwardArguments &a;
  int units, inputs, gates;
  int hGroups, xGroups, keptGroups; ///< of terms; of R in registers
  bool keepsInputs;
  int64_t row;        ///< the first sequence of the cluster
  int count;          ///< of its sequences
  int warpUnit, unit; ///< the first of the warp, that of the lane
  Shared<Fragment> fragments;
  int ofWarp;         ///< the warp's first
  int hBytes, xBytes; ///< where h and x are in shared memory
  int hStride, xStride;
  Fragment kept[kForwardKept][2];

  LSTMC_DEVICE explicit Layer(const RnnForwardTensorArguments &on) : a(on.layer) {
    const LayerShape &s = a.shape;
    units = int(s.units);
    inputs = int(s.inputs);
    gates = s.gates;
    hGroups = int(tensorGroups(units));
    xGroups = int(tensorGroups(inputs));
    keptGroups = hGroups < kForwardKept ? hGroups : kForwardKept;
    keepsInputs = on.chip.keepsInputs;
    row = blockIndex() / clusterBlocks() * kTensorRows;
    count = int(s.batch - row < kTensorRows ? s.batch - row : kTensorRows);
    warpUnit = clusterRank() * on.chip.share + warpIndex() * kForwardUnits;
    unit = warpUnit + laneIndex() / 4;
    const int fragmentBytes = int(forwardFragmentBytes(units, inputs, on.chip));
    fragments = shared<Fragment>(0, fragmentBytes / int(sizeof(Fragment)));
    ofWarp = 2 * kWarp * (hGroups - keptGroups + (keepsInputs ? xGroups : 0)) * warpIndex();
    hStride = int(tensorStride(hGroups));
    xStride = int(tensorInputStride(inputs));
    hBytes = fragmentBytes;
    xBytes = hBytes + 2 * 4 * kTensorRows * hStride;
  }

  // Two of each, by the number of the step; arrays of them would not stay in registers.
  LSTMC_DEVICE ColumnWords h(int64_t index) const {
    const int numbers = kTensorRows * hStride;
    return {shared<uint32_t>(hBytes + int(index % 2) * 4 * numbers, numbers), hStride};
  }
  LSTMC_DEVICE Shared<float> x(int64_t index) const {
    const int numbers = kTensorRows * xStride;
    return shared<float>(xBytes + int(index % 2) * 4 * numbers, numbers);
  }

  /// From memory: gates 2 half and 2 half + 1 of the warp's units; what is not there is 0.
  LSTMC_DEVICE Fragment weights(const Sequence &matrix, int terms, int group, int half) const {
    const auto numbers = matrix.as<const float>();
    return fragmentOf<Rule>(int64_t(group) * kTensorDepth, [&](int line, int64_t term) {
      const int gate = 2 * half + line / 8, of = warpUnit + line % 8;
      return gate < gates && of < units && term < terms
                 ? numbers.load(packedAt(of, term, terms, gate, gates))
                 : 0.0f;
    });
  }
  LSTMC_DEVICE int placeOf(int number) const { return ofWarp + number * kWarp + laneIndex(); }

  LSTMC_DEVICE void keepWeights() {
    LSTMC_UNROLL
    for (int group = 0; group < kForwardKept; ++group)
      LSTMC_UNROLL
    for (int half = 0; half < 2; ++half)
      if (group < keptGroups)
        kept[group][half] = weights(a.r, units, group, half);
    int number = 0;
    for (int group = keptGroups; group < hGroups; ++group)
      LSTMC_UNROLL
    for (int half = 0; half < 2; ++half)
      fragments.store(placeOf(number++), weights(a.r, units, group, half));
    for (int group = 0; keepsInputs && group < xGroups; ++group)
      LSTMC_UNROLL
    for (int half = 0; half < 2; ++half)
      fragments.store(placeOf(number++), weights(a.w, inputs, group, half));
  }

  LSTMC_DEVICE void begin() {
    keepWeights();
    for (int half = 0; half < 2; ++half) {
      h(half).clear();
      for (int i = threadIndex(); i < kTensorRows * xStride; i += blockThreads())
        x(half).store(i, 0);
    }
    syncThreads();
    const int words = (units + 1) / 2;
    for (int i = threadIndex(); a.h0 && i < count * words; i += blockThreads()) {
      const int64_t b = row + i / words, u = i % words * 2;
      const float second = u + 1 < units ? loadAt<V>(a.h0, b, u + 1).v : 0;
      h(0).words.store(i / words * hStride + i % words,
                       Rule::word(loadAt<V>(a.h0, b, u).v, second));
    }
    beginInputs(0);
    waitForCopies();
    syncCluster();
  }

  /// Begins to copy x of a step.
  LSTMC_DEVICE void beginInputs(int64_t index) const {
    const LayerShape &s = a.shape;
    if (index >= s.steps)
      return;
    const int64_t t = s.step(index);
    for (int i = threadIndex(); i < count * inputs; i += blockThreads())
      copyAsync(x(index), i / inputs * xStride + i % inputs, a.x.as<const float>(),
                t * a.x.strides[0] + (row + i / inputs) * a.x.strides[1] +
                    i % inputs * a.x.strides[2]);
  }

  /// W x and R h, groups of terms ascending.
  LSTMC_DEVICE void multiply(int64_t index, float (&input)[2][4], float (&recurrent)[2][4]) const {
    const ColumnWords now = h(index);
    uint32_t b[2];
    LSTMC_UNROLL
    for (int group = 0; group < kForwardKept; ++group)
      if (group < keptGroups) {
        now.load(group, b);
        LSTMC_UNROLL
        for (int half = 0; half < 2; ++half)
          Rule::multiply(recurrent[half], kept[group][half].words, b);
      }
    int number = 0;
    for (int group = keptGroups; group < hGroups; ++group) {
      now.load(group, b);
      LSTMC_UNROLL
      for (int half = 0; half < 2; ++half)
        Rule::multiply(recurrent[half], fragments.load(placeOf(number++)).words, b);
    }
    const Shared<float> xNow = x(index);
    for (int group = 0; group < xGroups; ++group) {
      const int at = laneIndex() / 4 * xStride + group * kTensorDepth + laneIndex() % 4 * 2;
      LSTMC_UNROLL
      for (int i = 0; i < 2; ++i)
        b[i] = Rule::word(xNow.load(at + 8 * i), xNow.load(at + 8 * i + 1));
      LSTMC_UNROLL
      for (int half = 0; half < 2; ++half) {
        const Fragment w =
            keepsInputs ? fragments.load(placeOf(number++)) : weights(a.w, inputs, group, half);
        Rule::multiply(input[half], w.words, b);
      }
    }
  }
};

/// What a lane has of two sequences: its unit's state and the biases.
struct Lane {
  V h[2], c[2], bi[kMaxGates], bh[kMaxGates];
};

/// The cell of the lane's unit, of its sequence j, at step t.
template <typename Rule>
LSTMC_DEVICE void advance(const Layer<Rule> &layer, Lane &lane, int j, int64_t t, bool counts,
                          const float (&input)[2][4], const float (&recurrent)[2][4]) {
  const RnnForwardArguments &a = layer.a;
  const LayerShape &s = a.shape;
  const int64_t b = layer.row + laneIndex() % 4 * 2 + j, unit = layer.unit;
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
  if (a.before)
    storeAt(a.before, lane.h[j], t, b, unit);
  storeAt(a.y, counts ? cell.h : V{0}, t, b, unit);
  LSTMC_UNROLL
  for (int g = 0; g < kMaxGates; ++g)
    if (a.gates && g < s.gates)
      storeAt(a.gates, cell.gate[g], t, b, g * s.units + unit);
  if (a.cells)
    storeAt(a.cells,
            s.mode == RnnMode::Lstm ? cell.c : cell.recurrent[s.mode == RnnMode::Gru ? kGateN : 0],
            t, b, unit);
  lane.h[j] = cell.h;
  lane.c[j] = cell.c;
}

template <typename Rule> LSTMC_DEVICE void forward(const RnnForwardTensorArguments &on) {
  const RnnForwardArguments &a = on.layer;
  const LayerShape &s = a.shape;
  Layer<Rule> layer(on);
  int64_t length[2], longest = 0;
  for (int i = 0; i < layer.count; ++i) {
    const int64_t each = lengthOf(a.length, layer.row + i, s.steps);
    longest = longest < each ? each : longest;
  }
  Lane lane = {};
  bool there[2];
  LSTMC_UNROLL
  for (int j = 0; j < 2; ++j) {
    const int i = laneIndex() % 4 * 2 + j;
    there[j] = i < layer.count && layer.unit < layer.units;
    length[j] = there[j] ? lengthOf(a.length, layer.row + i, s.steps) : 0;
    if (there[j]) {
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
  layer.begin();
  for (int64_t index = 0; index < s.steps; ++index) {
    const int64_t t = s.step(index);
    layer.beginInputs(index + 1);
    float input[2][4] = {}, recurrent[2][4] = {};
    if (t < longest && layer.warpUnit < layer.units)
      layer.multiply(index, input, recurrent);
    LSTMC_UNROLL
    for (int j = 0; j < 2; ++j)
      if (there[j])
        advance(layer, lane, j, t, t < length[j], input, recurrent);
    giveToCluster<Rule>(layer.h(index + 1), layer.unit, layer.units, lane.h[0].v, lane.h[1].v);
    waitForCopies();
    syncCluster();
  }
  LSTMC_UNROLL
  for (int j = 0; j < 2; ++j) {
    const int64_t b = layer.row + laneIndex() % 4 * 2 + j;
    if (there[j] && a.hN)
      storeAt(a.hN, lane.h[j], b, layer.unit);
    if (there[j] && a.cN)
      storeAt(a.cN, lane.c[j], b, layer.unit);
  }
}

} // namespace

LSTMC_GPU_KERNEL_OF(kTensorThreads, lstmc_rnn_forward_bf16, RnnForwardTensorArguments, a) {
  forward<Bf16>(a);
}
LSTMC_GPU_KERNEL_OF(kTensorThreads, lstmc_rnn_forward_fp16, RnnForwardTensorArguments, a) {
  forward<Fp16>(a);
}

} // namespace lstmc::gpu
