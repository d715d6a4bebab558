// The kernels rnn_forward and rnn_backward.
#include "executor/abi/Gate.h"
#include "executor/abi/Scratch.h"
#include "executor/base/ScalarSemantics.h"
#include "executor/device/StopFlag.h"
#include "executor/reference/Groups.h"
#include "executor/reference/View.h"

namespace lstmc::reference {

namespace {

/// The arguments of a launch, and its extents.
struct Layer {
  template <typename Launch>
  explicit Layer(const Launch &launch)
      : mode(launch.mode), gates(gateCount(mode)), reverse(launch.reverse),
        steps(launch.y.shape[0]), batch(launch.y.shape[1]), units(launch.y.shape[2]) {}

  /// The t of the s-th step that is computed.
  int64_t step(int64_t s) const { return reverse ? steps - 1 - s : s; }
  /// Number of real steps of sequence b.
  int64_t length(const Tensor &lengths, int64_t b) const {
    return lengths ? indexAt(lengths, b) : steps;
  }

  RnnMode mode;
  int64_t gates;
  bool reverse;
  int64_t steps, batch, units;
};

/// sum over k ascending of row[k * stride] * w(n, k), one fma per term, from +0.
template <typename Real>
Real chain(const Real *row, int64_t stride, const Packed<const Real> &w, int64_t n, int64_t count) {
  Real sum = 0;
  for (int64_t k = 0; k < count; ++k)
    sum = std::fma(row[k * stride], w(n, k), sum);
  return sum;
}

/// One step of one unit: reads the pre-activations of input and state, computes the new state. The
/// result of every operation is rounded.
template <typename Real> struct Cell {
  Real h, c;         ///< state before, then after the step
  Real input[4];     ///< W x + bi per gate
  Real recurrent[4]; ///< R h + bh per gate
  Real gate[4];      ///< activated gates

  void advance(RnnMode mode) {
    Real z[4];
    for (int g = 0; g < gateCount(mode); ++g)
      z[g] = input[g] + recurrent[g];
    switch (mode) {
    case RnnMode::Relu:
      h = gate[0] = scalar::maximum(z[0], Real(0));
      break;
    case RnnMode::Tanh:
      h = gate[0] = scalar::hyperbolicTangent(z[0]);
      break;
    case RnnMode::Lstm: {
      Real i = gate[kGateI] = scalar::sigmoid(z[kGateI]);
      Real f = gate[kGateF] = scalar::sigmoid(z[kGateF]);
      Real g = gate[kGateG] = scalar::hyperbolicTangent(z[kGateG]);
      Real o = gate[kGateO] = scalar::sigmoid(z[kGateO]);
      c = f * c + i * g;
      h = o * scalar::hyperbolicTangent(c);
      break;
    }
    case RnnMode::Gru: {
      Real r = gate[kGateR] = scalar::sigmoid(z[kGateR]);
      Real u = gate[kGateZ] = scalar::sigmoid(z[kGateZ]);
      Real n = gate[kGateN] = scalar::hyperbolicTangent(input[kGateN] + r * recurrent[kGateN]);
      h = (1 - u) * n + u * h;
      break;
    }
    }
  }
};

/// At steps at or beyond a sequence's length, y, gates and gru's cells are 0; lstm's cells and
/// `before` hold the unchanged state.
template <typename Real> void forward(const RnnForwardLaunch &launch) {
  const Layer layer(launch);
  const int64_t B = layer.batch, H = layer.units, G = layer.gates, I = launch.x.shape[2];
  const View<Real> x(launch.x), bi(launch.bi), bh(launch.bh), h0(launch.h0), c0(launch.c0),
      y(launch.y), hN(launch.hN), cN(launch.cN), gates(launch.gates), cells(launch.cells),
      before(launch.before);
  const Packed<const Real> w(elementsOf<Real>(launch.w), G * H, I, G),
      r(elementsOf<Real>(launch.r), G * H, H, G);

  const auto parts = scratchOf(launch, B, H, sizeof(Real), bool(launch.gates));
  Real *scratch = elementsOf<Real>(launch.scratch);
  Real *h = scratch + parts.h, *next = scratch + parts.nextH, *c = scratch + parts.c; // [B, H] each
  for (int64_t b = 0; b < B; ++b)
    for (int64_t u = 0; u < H; ++u) {
      h[b * H + u] = h0 ? h0(b, u) : Real(0);
      c[b * H + u] = c0 ? c0(b, u) : Real(0);
    }

  for (int64_t s = 0; s < layer.steps && !stopAsked(); ++s) {
    const int64_t t = layer.step(s);
    for (int64_t b = 0; b < B; ++b) {
      const bool counts = t < layer.length(launch.length, b);
      for (int64_t u = 0; u < H; ++u) {
        Cell<Real> cell{h[b * H + u], c[b * H + u], {}, {}, {}};
        if (before)
          before(t, b, u) = cell.h;
        if (counts) {
          for (int64_t g = 0; g < G; ++g) {
            const int64_t n = g * H + u;
            cell.input[g] = I == 0 ? Real(0) : chain(&x(t, b, 0), launch.x.strides[2], w, n, I);
            if (bi)
              cell.input[g] += bi(n);
            cell.recurrent[g] = chain(h + b * H, 1, r, n, H);
            if (bh)
              cell.recurrent[g] += bh(n);
          }
          cell.advance(layer.mode);
        }
        next[b * H + u] = cell.h;
        c[b * H + u] = cell.c;
        y(t, b, u) = counts ? cell.h : Real(0);
        for (int64_t g = 0; gates && g < G; ++g)
          gates(t, b, g * H + u) = cell.gate[g];
        if (cells)
          cells(t, b, u) = layer.mode == RnnMode::Lstm
                               ? cell.c
                               : cell.recurrent[layer.mode == RnnMode::Gru ? kGateN : 0];
      }
    }
    std::swap(h, next);
  }

  for (int64_t b = 0; b < B; ++b)
    for (int64_t u = 0; u < H; ++u) {
      if (hN)
        hN(b, u) = h[b * H + u];
      if (cN)
        cN(b, u) = c[b * H + u];
    }
}

/// The derivative of an activation, computed from its value.
template <typename Real> Real throughSigmoid(Real d, Real s) { return d * (s * (1 - s)); }
template <typename Real> Real throughTanh(Real d, Real t) { return d * (1 - t * t); }

/// One step of one unit backwards, composed of the gradients of the single operations.
template <typename Real> struct CellGradient {
  Real dh, dc;            ///< gradients of the state after the step; dc becomes that of the state
                          ///< before
  Real before, cBefore;   ///< state before the step
  Real cell;              ///< lstm c', gru R h + bh of gate n
  Real gate[4];           ///< activated gates
  Real input[4] = {};     ///< gradient of W x + bi
  Real recurrent[4] = {}; ///< gradient of R h + bh
  Real direct = 0;        ///< gradient of h before the step that does not go through the product

  void backward(RnnMode mode) {
    switch (mode) {
    case RnnMode::Relu:
      input[0] = dh * Real(gate[0] > 0 ? 1 : 0); // NaN and -0 as the op relu has them
      break;
    case RnnMode::Tanh:
      input[0] = throughTanh(dh, gate[0]);
      break;
    case RnnMode::Lstm: {
      Real i = gate[kGateI], f = gate[kGateF], g = gate[kGateG], o = gate[kGateO];
      Real t = scalar::hyperbolicTangent(cell);
      dc = dc + throughTanh(dh * o, t);
      input[kGateI] = throughSigmoid(dc * g, i);
      input[kGateF] = throughSigmoid(dc * cBefore, f);
      input[kGateG] = throughTanh(dc * i, g);
      input[kGateO] = throughSigmoid(dh * t, o);
      dc = dc * f;
      break;
    }
    case RnnMode::Gru: {
      Real r = gate[kGateR], z = gate[kGateZ], n = gate[kGateN];
      Real dn = throughTanh(dh * (1 - z), n);
      input[kGateR] = throughSigmoid(dn * cell, r);
      input[kGateZ] = throughSigmoid(dh * before - dh * n, z);
      input[kGateN] = dn;
      direct = dh * z;
      break;
    }
    }
    for (int g = 0; g < gateCount(mode); ++g)
      recurrent[g] = input[g];
    if (mode == RnnMode::Gru)
      recurrent[kGateN] = input[kGateN] * gate[kGateR];
  }
};

/// dh of a step is (carried from the step after it + dy); the step then carries (product + direct).
/// Absent terms are +0.
template <typename Real> void backward(const RnnBackwardLaunch &launch) {
  const Layer layer(launch);
  const int64_t T = layer.steps, B = layer.batch, H = layer.units, G = layer.gates;
  const bool lstm = layer.mode == RnnMode::Lstm, gru = layer.mode == RnnMode::Gru;
  const View<Real> gates(launch.gates), cells(launch.cells), y(launch.y), h0(launch.h0),
      c0(launch.c0), before(launch.before), dy(launch.dy), dhN(launch.dhN), dcN(launch.dcN),
      dgates(launch.dgates), dhidden(launch.dhidden), dx(launch.dx), dh0(launch.dh0),
      dc0(launch.dc0);
  const Packed<const Real> rt(elementsOf<Real>(launch.rt), H, G * H, 0);

  const auto parts = scratchOf(launch, B, H, sizeof(Real));
  Real *hidden = elementsOf<Real>(launch.scratch);       // [B, G*H]: gradient of R h + bh at the
                                                         // step
  Real *dh = hidden + parts.dh, *dc = hidden + parts.dc; // [B, H] each: gradients of the state
                                                         // after the step
  for (int64_t b = 0; b < B; ++b)
    for (int64_t u = 0; u < H; ++u) {
      dh[b * H + u] = dhN ? dhN(b, u) : Real(0);
      dc[b * H + u] = dcN ? dcN(b, u) : Real(0);
    }

  for (int64_t s = T - 1; s >= 0 && !stopAsked(); --s) {
    const int64_t t = layer.step(s), previous = layer.reverse ? t + 1 : t - 1;
    for (int64_t b = 0; b < B; ++b) {
      const int64_t length = std::min(layer.length(launch.length, b), T);
      const bool first = previous < 0 || previous >= length; // the state before the step is the
                                                             // initial one
      for (int64_t u = 0; u < H; ++u) {
        CellGradient<Real> cell{};
        if (t < length) {
          cell.dh = dh[b * H + u] + (dy ? dy(t, b, u) : Real(0));
          cell.dc = dc[b * H + u];
          cell.before = before   ? before(t, b, u)
                        : !first ? y(previous, b, u)
                                 : (h0 ? h0(b, u) : Real(0));
          if (lstm)
            cell.cBefore = !first ? cells(previous, b, u) : (c0 ? c0(b, u) : Real(0));
          if (lstm || gru)
            cell.cell = cells(t, b, u);
          for (int64_t g = 0; g < G; ++g)
            cell.gate[g] = gates(t, b, g * H + u);
          cell.backward(layer.mode);
          dh[b * H + u] = cell.direct;
          dc[b * H + u] = cell.dc;
        }
        for (int64_t g = 0; g < G; ++g) {
          dgates(t, b, g * H + u) = cell.input[g];
          hidden[b * G * H + g * H + u] = cell.recurrent[g];
          if (dhidden)
            dhidden(t, b, g * H + u) = cell.recurrent[g];
        }
      }
      for (int64_t u = 0; t < length && u < H; ++u) {
        Real product = chain<Real>(hidden + b * G * H, 1, rt, u, G * H);
        dh[b * H + u] = gru ? product + dh[b * H + u] : product;
      }
    }
  }

  for (int64_t b = 0; b < B; ++b)
    for (int64_t u = 0; u < H; ++u) {
      if (dh0)
        dh0(b, u) = dh[b * H + u];
      if (dc0)
        dc0(b, u) = dc[b * H + u];
    }
  if (!dx)
    return;
  const int64_t I = dx.extent(2);
  const Packed<const Real> wt(elementsOf<Real>(launch.wt), I, G * H, 0);
  for (int64_t t = 0; t < T && !stopAsked(); ++t)
    for (int64_t b = 0; b < B; ++b)
      for (int64_t i = 0; i < I; ++i)
        dx(t, b, i) = chain<Real>(&dgates(t, b, 0), launch.dgates.strides[2], wt, i, G * H);
}

} // namespace

void runRnnForward(const RnnForwardLaunch &launch) {
  withFloat(launch.x, [&](auto real) { forward<decltype(real)>(launch); });
}

void runRnnBackward(const RnnBackwardLaunch &launch) {
  withFloat(launch.gates, [&](auto real) { backward<decltype(real)>(launch); });
}

} // namespace lstmc::reference
