// One step of one recurrent cell, forward and backward, for a vector of units. Every operation is
// rounded (robustness: rule 2), in the order of executor/reference/Recurrence.cpp.
#pragma once

#include "backends/cpu/runtime/Vector.h"
#include "executor/abi/Gate.h"
#include "executor/base/ElementaryFunctions.h"

namespace lstmc::cpu::LSTMC_CPU_NAMESPACE {

/// The state of some units of one sequence, and what the step leaves for backward.
template <RnnMode Mode> struct Cell {
  static constexpr int G = gateCount(Mode);
  Vector h, c;
  Vector gates[G];

  /// input: W x + bi, recurrent: R h + bh, per gate.
  LSTMC_INLINE void advance(const Vector (&input)[G], const Vector (&recurrent)[G]) {
    if constexpr (Mode == RnnMode::Relu) {
      Vector z = input[0] + recurrent[0];
      h = gates[0] = select(z <= Vector::zero(), Vector::zero(), z); // NaN stays
    } else if constexpr (Mode == RnnMode::Tanh) {
      h = gates[0] = hyperbolicTangent(input[0] + recurrent[0]);
    } else if constexpr (Mode == RnnMode::Lstm) {
      gates[kGateI] = sigmoid(input[kGateI] + recurrent[kGateI]);
      gates[kGateF] = sigmoid(input[kGateF] + recurrent[kGateF]);
      gates[kGateG] = hyperbolicTangent(input[kGateG] + recurrent[kGateG]);
      gates[kGateO] = sigmoid(input[kGateO] + recurrent[kGateO]);
      c = gates[kGateF] * c + gates[kGateI] * gates[kGateG];
      h = gates[kGateO] * hyperbolicTangent(c);
    } else {
      gates[kGateR] = sigmoid(input[kGateR] + recurrent[kGateR]);
      gates[kGateZ] = sigmoid(input[kGateZ] + recurrent[kGateZ]);
      gates[kGateN] = hyperbolicTangent(input[kGateN] + gates[kGateR] * recurrent[kGateN]);
      h = (Vector::broadcast(1.0f) - gates[kGateZ]) * gates[kGateN] + gates[kGateZ] * h;
    }
  }
};

/// What a step backward reads and makes.
template <RnnMode Mode> struct CellGradient {
  static constexpr int G = gateCount(Mode);
  Vector dh, dc;          ///< of the state after the step; dc then of the state before
  Vector before, cBefore; ///< state before the step: h of gru, c of lstm
  Vector cell;            ///< lstm c', gru R h + bh of gate n
  Vector gates[G];
  Vector input[G];  ///< gradient of W x + bi
  Vector hidden[G]; ///< gradient of R h + bh
  Vector direct;    ///< gru: gradient of h before the step that takes no product

  static LSTMC_INLINE Vector throughSigmoid(Vector d, Vector s) {
    return d * (s * (Vector::broadcast(1.0f) - s));
  }
  static LSTMC_INLINE Vector throughTanh(Vector d, Vector t) {
    return d * (Vector::broadcast(1.0f) - t * t);
  }

  LSTMC_INLINE void retreat() {
    if constexpr (Mode == RnnMode::Relu) {
      input[0] = select(gates[0] > Vector::zero(), dh, Vector::zero());
    } else if constexpr (Mode == RnnMode::Tanh) {
      input[0] = throughTanh(dh, gates[0]);
    } else if constexpr (Mode == RnnMode::Lstm) {
      Vector t = hyperbolicTangent(cell);
      dc = dc + throughTanh(dh * gates[kGateO], t);
      input[kGateI] = throughSigmoid(dc * gates[kGateG], gates[kGateI]);
      input[kGateF] = throughSigmoid(dc * cBefore, gates[kGateF]);
      input[kGateG] = throughTanh(dc * gates[kGateI], gates[kGateG]);
      input[kGateO] = throughSigmoid(dh * t, gates[kGateO]);
      dc = dc * gates[kGateF];
    } else {
      Vector z = gates[kGateZ], n = gates[kGateN];
      Vector dn = throughTanh(dh * (Vector::broadcast(1.0f) - z), n);
      input[kGateR] = throughSigmoid(dn * cell, gates[kGateR]);
      input[kGateZ] = throughSigmoid(dh * before - dh * n, z);
      input[kGateN] = dn;
      direct = dh * z;
    }
    for (int g = 0; g < G; ++g)
      hidden[g] = input[g];
    if constexpr (Mode == RnnMode::Gru)
      hidden[kGateN] = input[kGateN] * gates[kGateR];
  }
};

} // namespace lstmc::cpu::LSTMC_CPU_NAMESPACE
