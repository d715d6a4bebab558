// rnn_forward against the equations of mxnet.md 3.2, written again in long double, and the laws of
// layers.
#include <cmath>

#include <gtest/gtest.h>

#include "backends/conformance/RecurrenceLaunch.h"
#include "executor/base/FloatMode.h"
#include "executor/base/ScalarSemantics.h"
#include "tests/executor/reference/Run.h"

namespace lstmc::reference {
namespace {

using L = long double;
using Vectors = std::vector<std::vector<L>>; // [B][H]

L sigma(L x) { return 1 / (1 + std::exp(-x)); }

struct Result {
  std::vector<Vectors> y; // [T]
  Vectors h, c;
};

/// The equations of mxnet.md: gate blocks i f c o, and r z n.
Result byEquations(const RnnShape &s, TestLaunch &launch) {
  const Array w = rnnInputWeights(s), r = rnnRecurrentWeights(s);
  const int64_t H = s.units, G = gateCount(s.mode);
  auto vectors = [&](std::string_view name) {
    Vectors v(s.batch, std::vector<L>(H, 0));
    if (launch[name].storage)
      for (int64_t b = 0; b < s.batch; ++b)
        for (int64_t u = 0; u < H; ++u)
          v[b][u] = launch[name].at({b, u});
    return v;
  };
  Result result{std::vector<Vectors>(s.steps, Vectors(s.batch, std::vector<L>(H, 0))),
                vectors("h0"), vectors("c0")};
  for (int64_t b = 0; b < s.batch; ++b) {
    const int64_t length = s.lengths ? int64_t(launch["length"].at({b})) : s.steps;
    for (int64_t step = 0; step < s.steps; ++step) {
      const int64_t t = s.reverse ? s.steps - 1 - step : step;
      if (t >= length)
        continue;
      std::vector<L> h = result.h[b], &c = result.c[b];
      auto affine = [&](int64_t gate, int64_t u, bool ofState) {
        const int64_t row = gate * H + u;
        L sum = s.biases ? launch[ofState ? "bh" : "bi"].at({row}) : 0;
        for (int64_t k = 0; k < (ofState ? H : s.inputs); ++k)
          sum += ofState ? r.at({row, k}) * h[k] : L(w.at({row, k})) * launch["x"].at({t, b, k});
        return sum;
      };
      auto z = [&](int64_t gate, int64_t u) {
        return affine(gate, u, false) + affine(gate, u, true);
      };
      for (int64_t u = 0; u < H; ++u) {
        L next = 0;
        switch (s.mode) {
        case RnnMode::Relu:
          next = std::max(z(0, u), L(0));
          break;
        case RnnMode::Tanh:
          next = std::tanh(z(0, u));
          break;
        case RnnMode::Lstm:
          c[u] = sigma(z(1, u)) * c[u] + sigma(z(0, u)) * std::tanh(z(2, u));
          next = sigma(z(3, u)) * std::tanh(c[u]);
          break;
        case RnnMode::Gru: {
          const L update = sigma(z(1, u));
          next =
              (1 - update) * std::tanh(affine(2, u, false) + sigma(z(0, u)) * affine(2, u, true)) +
              update * h[u];
          break;
        }
        }
        result.h[b][u] = result.y[t][b][u] = next;
      }
      EXPECT_EQ(G, launch["w"].tensor.shape[0] / (roundUp(H, kPanel) * s.inputs));
    }
  }
  return result;
}

std::vector<RnnShape> shapesOf(RnnMode mode) {
  std::vector<RnnShape> result;
  for (bool reverse : {false, true})
    for (bool lengths : {false, true})
      for (bool biases : {false, true})
        for (bool states : {false, true})
          result.push_back({.mode = mode,
                            .steps = 5,
                            .inputs = 6,
                            .units = 19,
                            .reverse = reverse,
                            .lengths = lengths,
                            .biases = biases,
                            .states = states});
  return result;
}

class Recurrence : public testing::TestWithParam<RnnMode> {};

// Tolerance: sums of at most 25 terms of magnitude 1 at each of 5 steps, passed on through gates
// with a slope of at most 1.
TEST_P(Recurrence, FollowsTheEquations) {
  for (const RnnShape &s : shapesOf(GetParam())) {
    SCOPED_TRACE(s.text());
    for (DType type : {DType::F32, DType::F64}) {
      RnnShape typed = s;
      typed.type = type;
      const double tolerance = (type == DType::F32 ? 0x1p-24 : 0x1p-53) * 25 * 5 * 4;
      TestLaunch launch = rnnForward(typed);
      launch.run(kernel(launch.id));
      const Result want = byEquations(typed, launch);
      for (int64_t b = 0; b < s.batch; ++b)
        for (int64_t u = 0; u < s.units; ++u) {
          for (int64_t t = 0; t < s.steps; ++t)
            ASSERT_NEAR(launch["y"].at({t, b, u}), double(want.y[t][b][u]), tolerance);
          ASSERT_NEAR(launch["hN"].at({b, u}), double(want.h[b][u]), tolerance);
          if (s.mode == RnnMode::Lstm) {
            ASSERT_NEAR(launch["cN"].at({b, u}), double(want.c[b][u]), tolerance);
          }
        }
    }
  }
}

/// The matrix repeated for every step, in the form that `product` needs.
Array packedAgain(const Array &p, const RnnShape &s) {
  std::vector<double> one = p.values(), all;
  for (int64_t t = 0; t < s.steps; ++t)
    all.insert(all.end(), one.begin(), one.end());
  return Array(s.type, {int64_t(all.size())}, listed(all));
}

/// One operation on f32, as in a fused program.
float op(ScalarOp op, float a, float b = 0) { return evaluate<float>(op, a, b); }

// Rule 2: a layer gives the bits of the cell written by hand from products and single operations.
TEST_P(Recurrence, EqualsItsSingleOperations) {
  for (const RnnShape &s : shapesOf(GetParam())) {
    if (s.lengths || !s.biases || !s.states)
      continue;
    SCOPED_TRACE(s.text());
    const int64_t B = s.batch, H = s.units, N = gateCount(s.mode) * H;
    TestLaunch layer = rnnForward(s);
    layer.run(kernel(layer.id));
    FloatMode mode;
    Array h(DType::F32, {1, B, H}, listed(layer["h0"].values())), c(DType::F32, {B, H});
    if (s.mode == RnnMode::Lstm)
      c = Array(DType::F32, {B, H}, listed(layer["c0"].values()));
    for (int64_t step = 0; step < s.steps; ++step) {
      const int64_t t = s.reverse ? s.steps - 1 - step : step;
      Array p(DType::F32, {1, B, N}), q(DType::F32, {1, B, N});
      run(KernelId::Product,
          {layer["x"].slice(0, t, 1), packed(rnnInputWeights(s), 0), layer["bi"], p});
      run(KernelId::Product, {h, packed(rnnRecurrentWeights(s), 0), layer["bh"], q});
      for (int64_t b = 0; b < B; ++b)
        for (int64_t u = 0; u < H; ++u) {
          auto of = [&](const Array &a, int64_t gate) { return float(a.at({0, b, gate * H + u})); };
          auto z = [&](int64_t gate) { return op(ScalarOp::Add, of(p, gate), of(q, gate)); };
          auto sigmoid = [&](int64_t gate) { return op(ScalarOp::Sigmoid, z(gate)); };
          float &state = h.tensor.as<float>()[b * H + u], &cell = c.tensor.as<float>()[b * H + u];
          switch (s.mode) {
          case RnnMode::Relu:
            state = op(ScalarOp::Max, z(0), 0);
            break;
          case RnnMode::Tanh:
            state = op(ScalarOp::Tanh, z(0));
            break;
          case RnnMode::Lstm:
            cell = op(ScalarOp::Add, op(ScalarOp::Mul, sigmoid(kGateF), cell),
                      op(ScalarOp::Mul, sigmoid(kGateI), op(ScalarOp::Tanh, z(kGateG))));
            state = op(ScalarOp::Mul, sigmoid(kGateO), op(ScalarOp::Tanh, cell));
            break;
          case RnnMode::Gru: {
            const float inner = op(ScalarOp::Mul, sigmoid(kGateR), of(q, kGateN));
            const float n = op(ScalarOp::Tanh, op(ScalarOp::Add, of(p, kGateN), inner)),
                        update = sigmoid(kGateZ);
            state = op(ScalarOp::Add, op(ScalarOp::Mul, op(ScalarOp::Sub, 1, update), n),
                       op(ScalarOp::Mul, update, state));
            break;
          }
          }
        }
      EXPECT_EQ(layer["y"].slice(0, t, 1).values(), h.values()) << "step " << t;
    }
  }
}

// Backward's products are those that `product` computes from its dgates (and dhidden).
TEST_P(Recurrence, BackwardsProductsAreProducts) {
  for (const RnnShape &s : shapesOf(GetParam())) {
    if (s.lengths)
      continue;
    SCOPED_TRACE(s.text());
    TestLaunch backward = rnnBackward(s);
    backward.run(kernel(backward.id));
    const bool gru = s.mode == RnnMode::Gru;
    Array dx(s.type, {s.steps, s.batch, s.inputs});
    run(KernelId::Product, {backward["dgates"], packedAgain(backward["wt"], s), Array(), dx});
    EXPECT_EQ(backward["dx"].values(), dx.values());
    if (gru)
      continue; // h has a second path back, without the product
    Array dh0(s.type, {1, s.batch, s.units});
    const int64_t first = s.reverse ? s.steps - 1 : 0;
    run(KernelId::Product, {backward["dgates"].slice(0, first, 1), backward["rt"], Array(), dh0});
    EXPECT_EQ(backward["dh0"].values(), dh0.values());
  }
}

// T steps at once equal two calls that pass on the state, to the bit; `before`, gates and cells are
// as documented.
TEST_P(Recurrence, TwoCallsCarryTheState) {
  for (const RnnShape &s : shapesOf(GetParam())) {
    SCOPED_TRACE(s.text());
    if (s.lengths)
      continue; // lengths count from the first step
    TestLaunch whole = rnnForward(s);
    whole.run(kernel(whole.id));
    const int64_t cut = 2;
    auto part = [&](int64_t begin, int64_t steps, const Array &h0, const Array &c0) {
      RnnShape shape = s;
      shape.steps = steps;
      TestLaunch launch = rnnForward(shape);
      launch["x"] = whole["x"].slice(0, begin, steps);
      launch["h0"] = h0;
      launch["c0"] = c0;
      launch.run(kernel(launch.id));
      return launch;
    };
    const int64_t begin = s.reverse ? cut : 0, steps = s.reverse ? s.steps - cut : cut;
    TestLaunch first = part(begin, steps, whole["h0"], whole["c0"]);
    TestLaunch second = part(s.reverse ? 0 : cut, s.steps - steps, first["hN"], first["cN"]);
    TestLaunch &low = s.reverse ? second : first, &high = s.reverse ? first : second;
    for (const char *name : {"y", "gates", "cells", "before"}) {
      if (!whole[name].storage)
        continue;
      std::vector<double> joined = low[name].values(), rest = high[name].values();
      joined.insert(joined.end(), rest.begin(), rest.end());
      EXPECT_EQ(joined, whole[name].values()) << name;
    }
    EXPECT_EQ(second["hN"].values(), whole["hN"].values());
  }
}

// A batch equals its rows run alone, to the bit.
TEST_P(Recurrence, RowsAreIndependent) {
  for (const RnnShape &s : shapesOf(GetParam())) {
    SCOPED_TRACE(s.text());
    TestLaunch whole = rnnForward(s);
    whole.run(kernel(whole.id));
    for (int64_t b = 0; b < s.batch; ++b) {
      RnnShape shape = s;
      shape.batch = 1;
      TestLaunch row = rnnForward(shape);
      row["x"] = whole["x"].slice(1, b, 1);
      for (const char *name : {"h0", "c0", "length"})
        if (row[name].storage)
          row[name] = whole[name].slice(0, b, 1);
      row.run(kernel(row.id));
      EXPECT_EQ(row["y"].values(), whole["y"].slice(1, b, 1).values());
      EXPECT_EQ(row["hN"].values(), whole["hN"].slice(0, b, 1).values());
    }
  }
}

// Results after a sequence's end do not depend on x, and x there changes no result before it.
TEST_P(Recurrence, NothingAfterTheEndCounts) {
  for (const RnnShape &s : shapesOf(GetParam())) {
    SCOPED_TRACE(s.text());
    if (!s.lengths)
      continue;
    TestLaunch a = rnnForward(s), b = a.clone();
    b["x"] = Array(s.type, {s.steps, s.batch, s.inputs}, [&](uint64_t i) {
      const int64_t t = int64_t(i) / (s.batch * s.inputs), row = int64_t(i) / s.inputs % s.batch;
      return double(t) < a["length"].at({row}) ? uniform(-1, 1, 12)(i) : NAN;
    });
    a.run(kernel(a.id));
    b.run(kernel(b.id));
    for (const char *name : {"y", "hN", "gates", "before"})
      EXPECT_EQ(a[name].values(), b[name].values()) << name;
    for (int64_t t = 0; t < s.steps; ++t)
      for (int64_t row = 0; row < s.batch; ++row)
        if (double(t) >= a["length"].at({row})) {
          EXPECT_EQ(a["y"].at({t, row, 0}), 0);
        }
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, Recurrence,
                         testing::Values(RnnMode::Relu, RnnMode::Tanh, RnnMode::Lstm, RnnMode::Gru),
                         [](const auto &info) {
                           return std::string(kRnnModeNames[int(info.param)]);
                         });

} // namespace
} // namespace lstmc::reference
