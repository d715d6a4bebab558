// What the recurrent kernels share: views of sequences, and a step of one unit.
#pragma once

#include "backends/cuda/kernels/Float.h"
#include "backends/cuda/kernels/Recurrence.h"

namespace lstmc::gpu {

template <typename V>
LSTMC_DEVICE V loadAt(const Sequence &x, int64_t i, int64_t j = 0, int64_t k = 0) {
  return {x.as<const typename V::Stored>().load(i * x.strides[0] + j * x.strides[1] +
                                                k * x.strides[2])};
}
template <typename V>
LSTMC_DEVICE void storeAt(const Sequence &x, V value, int64_t i, int64_t j = 0, int64_t k = 0) {
  x.as<typename V::Stored>().store(i * x.strides[0] + j * x.strides[1] + k * x.strides[2], value.v);
}
template <typename V> LSTMC_DEVICE V loadOr0(const Sequence &x, int64_t i, int64_t j) {
  return x ? loadAt<V>(x, i, j) : V{0};
}

/// Numbers in the block's shared memory.
template <typename V> struct SharedValues {
  Shared<typename V::Stored> numbers;

  LSTMC_DEVICE V load(int i) const { return {numbers.load(i)}; }
  LSTMC_DEVICE void store(int i, V value) const { numbers.store(i, value.v); }
};
/// `count` numbers from number `first` on.
template <typename V> LSTMC_DEVICE SharedValues<V> sharedValues(int first, int count) {
  return {shared<typename V::Stored>(int(sizeof(V)) * first, count)};
}

/// Number of real steps of sequence b.
LSTMC_DEVICE int64_t lengthOf(const Operand &length, int64_t b, int64_t steps) {
  if (!length.data)
    return steps;
  int64_t found = indexAt(length, at(length, b));
  return found < steps ? found : steps;
}
/// The most steps of so many sequences from `first` on, of those that the batch has.
LSTMC_DEVICE int64_t longestOf(const Operand &length, int64_t first, int count,
                               const LayerShape &s) {
  int64_t longest = 0;
  for (int i = 0; i < count && first + i < s.batch; ++i) {
    const int64_t each = lengthOf(length, first + i, s.steps);
    longest = longest < each ? each : longest;
  }
  return longest;
}

/// One step of one unit. The result of every operation is rounded (docs/numerics.md rule 2).
template <typename V> struct Cell {
  V h, c;
  V input[kMaxGates];     ///< W x + bi
  V recurrent[kMaxGates]; ///< R h + bh
  V gate[kMaxGates];      ///< activated gates

  LSTMC_DEVICE void advance(RnnMode mode) {
    switch (mode) {
    case RnnMode::Relu: {
      // Flushed, as every sum; ptxas may make a selection of it that does not flush (Float::min).
      const V z = input[0] + recurrent[0];
      h = gate[0] = isNan(z) || V{0} < z ? z : V{0};
      return;
    }
    case RnnMode::Tanh:
      h = gate[0] = hyperbolicTangent(input[0] + recurrent[0]);
      return;
    case RnnMode::Lstm:
      gate[kGateI] = sigmoid(input[kGateI] + recurrent[kGateI]);
      gate[kGateF] = sigmoid(input[kGateF] + recurrent[kGateF]);
      gate[kGateG] = hyperbolicTangent(input[kGateG] + recurrent[kGateG]);
      gate[kGateO] = sigmoid(input[kGateO] + recurrent[kGateO]);
      c = gate[kGateF] * c + gate[kGateI] * gate[kGateG];
      h = gate[kGateO] * hyperbolicTangent(c);
      return;
    case RnnMode::Gru:
      gate[kGateR] = sigmoid(input[kGateR] + recurrent[kGateR]);
      gate[kGateZ] = sigmoid(input[kGateZ] + recurrent[kGateZ]);
      gate[kGateN] = hyperbolicTangent(input[kGateN] + gate[kGateR] * recurrent[kGateN]);
      h = (V{1} - gate[kGateZ]) * gate[kGateN] + gate[kGateZ] * h;
      return;
    }
  }
};

/// Stores what step t made of unit u of sequence b; `before` is h before it, and the state passes
/// through a step that does not count.
template <typename V>
LSTMC_DEVICE void storeStep(const RnnForwardArguments &a, const Cell<V> &cell, V before,
                            bool counts, int64_t t, int64_t b, int64_t u) {
  const LayerShape &s = a.shape;
  if (a.before)
    storeAt(a.before, before, t, b, u);
  storeAt(a.y, counts ? cell.h : V{0}, t, b, u);
  LSTMC_UNROLL
  for (int g = 0; g < kMaxGates; ++g)
    if (a.gates && g < s.gates)
      storeAt(a.gates, cell.gate[g], t, b, g * s.units + u);
  if (a.cells)
    storeAt(a.cells,
            s.mode == RnnMode::Lstm  ? cell.c
            : s.mode == RnnMode::Gru ? cell.recurrent[kGateN]
                                     : cell.recurrent[0],
            t, b, u);
}

/// Element (gate * units + unit, k) of a matrix packed with gates, which has K columns.
LSTMC_DEVICE int64_t packedAt(int64_t unit, int64_t k, int64_t columns, int gate, int gates) {
  return ((unit / kPanel * columns + k) * gates + gate) * kPanel + unit % kPanel;
}

template <typename V> LSTMC_DEVICE V throughSigmoid(V d, V s) { return d * (s * (V{1} - s)); }
template <typename V> LSTMC_DEVICE V throughTanh(V d, V t) { return d * (V{1} - t * t); }

/// One step of one unit backward, composed of the gradients of the single operations.
template <typename V> struct CellGradient {
  V dh, dc;          ///< gradients of the state after the step; dc becomes that of the state
                     ///< before
  V before, cBefore; ///< state before the step
  V cell;            ///< lstm c', gru R h + bh of gate n
  V gate[kMaxGates];
  V input[kMaxGates];     ///< gradient of W x + bi
  V recurrent[kMaxGates]; ///< gradient of R h + bh
  V direct;               ///< gradient of h before the step that does not go through the
                          ///< product

  LSTMC_DEVICE void backward(RnnMode mode) {
    switch (mode) {
    case RnnMode::Relu:
      input[0] = dh * (V{0} < gate[0] ? V{1} : V{0}); // as the op relu
      break;
    case RnnMode::Tanh:
      input[0] = throughTanh(dh, gate[0]);
      break;
    case RnnMode::Lstm: {
      const V i = gate[kGateI], f = gate[kGateF], g = gate[kGateG], o = gate[kGateO];
      const V t = hyperbolicTangent(cell);
      dc = dc + throughTanh(dh * o, t);
      input[kGateI] = throughSigmoid(dc * g, i);
      input[kGateF] = throughSigmoid(dc * cBefore, f);
      input[kGateG] = throughTanh(dc * i, g);
      input[kGateO] = throughSigmoid(dh * t, o);
      dc = dc * f;
      break;
    }
    case RnnMode::Gru: {
      const V r = gate[kGateR], z = gate[kGateZ], n = gate[kGateN];
      const V dn = throughTanh(dh * (V{1} - z), n);
      input[kGateR] = throughSigmoid(dn * cell, r);
      input[kGateZ] = throughSigmoid(dh * before - dh * n, z);
      input[kGateN] = dn;
      direct = dh * z;
      break;
    }
    }
    for (int g = 0; g < kMaxGates; ++g)
      recurrent[g] = input[g];
    if (mode == RnnMode::Gru)
      recurrent[kGateN] = input[kGateN] * gate[kGateR];
  }
};

/// What memory has of step t of unit u of sequence b for its gradients: nothing from `end`, the
/// length of the sequence, on.
template <typename V> struct StepBack {
  V dy, before, cBefore, cell, gate[kMaxGates];

  LSTMC_DEVICE void load(const RnnBackwardArguments &a, int64_t t, int64_t b, int64_t u,
                         int64_t end) {
    const LayerShape &s = a.shape;
    const int64_t previous = s.reverse ? t + 1 : t - 1;
    const bool begins = previous < 0 || previous >= end; // the state before is the initial one
    if (t >= end)
      return;
    dy = a.dy ? loadAt<V>(a.dy, t, b, u) : V{0};
    before = a.before  ? loadAt<V>(a.before, t, b, u)
             : !begins ? loadAt<V>(a.y, previous, b, u)
                       : loadOr0<V>(a.h0, b, u);
    if (s.mode == RnnMode::Lstm)
      cBefore = !begins ? loadAt<V>(a.cells, previous, b, u) : loadOr0<V>(a.c0, b, u);
    if (s.mode == RnnMode::Lstm || s.mode == RnnMode::Gru)
      cell = loadAt<V>(a.cells, t, b, u);
    LSTMC_UNROLL
    for (int g = 0; g < kMaxGates; ++g)
      if (g < s.gates)
        gate[g] = loadAt<V>(a.gates, t, b, g * s.units + u);
  }

  /// The gradients, from those of the state after the step; all 0 from `end` on.
  LSTMC_DEVICE CellGradient<V> gradient(const LayerShape &s, int64_t t, int64_t end, V dh,
                                        V dc) const {
    CellGradient<V> step = {};
    if (t < end) {
      step.dh = dh + dy;
      step.dc = dc;
      step.before = before;
      step.cBefore = cBefore;
      step.cell = cell;
      LSTMC_UNROLL
      for (int g = 0; g < kMaxGates; ++g)
        step.gate[g] = gate[g];
      step.backward(s.mode);
    }
    return step;
  }
};

template <typename V>
LSTMC_DEVICE void storeGradients(const RnnBackwardArguments &a, const CellGradient<V> &step,
                                 int64_t t, int64_t b, int64_t u) {
  LSTMC_UNROLL
  for (int g = 0; g < kMaxGates; ++g)
    if (g < a.shape.gates) {
      storeAt(a.dgates, step.input[g], t, b, g * a.shape.units + u);
      if (a.dhidden)
        storeAt(a.dhidden, step.recurrent[g], t, b, g * a.shape.units + u);
    }
}

/// All of it.
template <typename V>
LSTMC_DEVICE CellGradient<V> gradientAt(const RnnBackwardArguments &a, int64_t t, int64_t b,
                                        int64_t u, int64_t end, V dh, V dc) {
  StepBack<V> step = {};
  step.load(a, t, b, u, end);
  const CellGradient<V> found = step.gradient(a.shape, t, end, dh, dc);
  storeGradients(a, found, t, b, u);
  return found;
}

} // namespace lstmc::gpu
