// One step of one recurrent cell, forward and backward, for a vector of units. Every operation is
// rounded (docs/numerics.md rule 2), in the order of executor/reference/Recurrence.cpp.
#pragma once

#include "backends/cpu/runtime/Bundle.h"
#include "executor/abi/Gate.h"
#include "executor/base/ElementaryFunctions.h"

namespace lstmc::cpu::LSTMC_CPU_NAMESPACE {

/// The state of some units, and the values that the step stores for backward. V: Vector or a
/// Bundle.
template <RnnMode Mode, typename V> struct Cell {
  static constexpr int G = gateCount(Mode);
  V h, c;
  V gates[G];

  /// input: W x + bi, recurrent: R h + bh, per gate. For an lstm, output() computes h.
  LSTMC_INLINE void advance(const V (&input)[G], const V (&recurrent)[G]) {
    if constexpr (Mode == RnnMode::Relu) {
      V z = input[0] + recurrent[0];
      h = gates[0] = select(z <= V::zero(), V::zero(), z); // NaN is kept
    } else if constexpr (Mode == RnnMode::Tanh) {
      h = gates[0] = hyperbolicTangent(input[0] + recurrent[0]);
    } else if constexpr (Mode == RnnMode::Lstm) {
      auto s = sigmoid(
          Bundle<V, 3>{{input[kGateI] + recurrent[kGateI], input[kGateF] + recurrent[kGateF],
                        input[kGateO] + recurrent[kGateO]}});
      gates[kGateG] = hyperbolicTangent(input[kGateG] + recurrent[kGateG]);
      gates[kGateI] = s.v[0];
      gates[kGateF] = s.v[1];
      gates[kGateO] = s.v[2];
      c = gates[kGateF] * c + gates[kGateI] * gates[kGateG];
    } else {
      auto s = sigmoid(
          Bundle<V, 2>{{input[kGateR] + recurrent[kGateR], input[kGateZ] + recurrent[kGateZ]}});
      gates[kGateR] = s.v[0];
      gates[kGateZ] = s.v[1];
      gates[kGateN] = hyperbolicTangent(input[kGateN] + gates[kGateR] * recurrent[kGateN]);
      h = (V::broadcast(1.0f) - gates[kGateZ]) * gates[kGateN] + gates[kGateZ] * h;
    }
  }

  /// h of an lstm; to be called after advance().
  static LSTMC_INLINE V output(const V &gateO, const V &c) { return gateO * hyperbolicTangent(c); }
};

/// What a backward step reads and computes.
template <RnnMode Mode, typename V> struct CellGradient {
  static constexpr int G = gateCount(Mode);
  V dh, dc;          ///< gradients of the state after the step; dc becomes that of the state before
  V before, cBefore; ///< state before the step: h of gru, c of lstm
  V cell;            ///< lstm c', gru R h + bh of gate n
  V gates[G];
  V input[G];  ///< gradient of W x + bi
  V hidden[G]; ///< gradient of R h + bh
  V direct;    ///< gru: gradient of h before the step that does not go through a product

  static LSTMC_INLINE V throughSigmoid(V d, V s) { return d * (s * (V::broadcast(1.0f) - s)); }
  static LSTMC_INLINE V throughTanh(V d, V t) { return d * (V::broadcast(1.0f) - t * t); }

  LSTMC_INLINE void backward() {
    if constexpr (Mode == RnnMode::Relu) {
      input[0] = dh * select(gates[0] > V::zero(), V::broadcast(1.0f), V::zero()); // as the op relu
    } else if constexpr (Mode == RnnMode::Tanh) {
      input[0] = throughTanh(dh, gates[0]);
    } else if constexpr (Mode == RnnMode::Lstm) {
      V t = hyperbolicTangent(cell);
      dc = dc + throughTanh(dh * gates[kGateO], t);
      input[kGateI] = throughSigmoid(dc * gates[kGateG], gates[kGateI]);
      input[kGateF] = throughSigmoid(dc * cBefore, gates[kGateF]);
      input[kGateG] = throughTanh(dc * gates[kGateI], gates[kGateG]);
      input[kGateO] = throughSigmoid(dh * t, gates[kGateO]);
      dc = dc * gates[kGateF];
    } else {
      V z = gates[kGateZ], n = gates[kGateN];
      V dn = throughTanh(dh * (V::broadcast(1.0f) - z), n);
      input[kGateR] = throughSigmoid(dn * cell, gates[kGateR]);
      input[kGateZ] = throughSigmoid(dh * before - dh * n, z);
      input[kGateN] = dn;
      direct = dh * z;
    }
#pragma unroll
    for (int g = 0; g < G; ++g)
      hidden[g] = input[g];
    if constexpr (Mode == RnnMode::Gru)
      hidden[kGateN] = input[kGateN] * gates[kGateR];
  }
};

} // namespace lstmc::cpu::LSTMC_CPU_NAMESPACE
