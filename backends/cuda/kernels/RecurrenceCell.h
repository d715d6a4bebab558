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

/// One step of one unit. The result of every operation is rounded (docs/numerics.md rule 2).
template <typename V> struct Cell {
  V h, c;
  V input[kMaxGates];     ///< W x + bi
  V recurrent[kMaxGates]; ///< R h + bh
  V gate[kMaxGates];      ///< activated gates

  LSTMC_DEVICE void advance(RnnMode mode) {
    switch (mode) {
    case RnnMode::Relu: {
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

/// Element (gate * units + unit, k) of a matrix packed with gates, which has K columns.
LSTMC_DEVICE int64_t packedAt(int64_t unit, int64_t k, int64_t columns, int gate, int gates) {
  return ((unit / kPanel * columns + k) * gates + gate) * kPanel + unit % kPanel;
}

} // namespace lstmc::gpu
