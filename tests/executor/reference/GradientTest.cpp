// Gradient kernels in f64 against extrapolated central differences, relative error
// at most 1e-7 of the tensor's largest gradient; kernels that move elements against the law <dy,
// f(x)> = <df(dy), x>.
#include <cmath>

#include <gtest/gtest.h>

#include "backends/conformance/RecurrenceLaunch.h"
#include "tests/executor/reference/Run.h"

namespace lstmc::reference {
namespace {

using Numbers = std::vector<double>;

double inner(const Array &a, const Array &b) {
  Numbers x = a.values(), y = b.values();
  EXPECT_EQ(x.size(), y.size());
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i)
    sum += x[i] * y[i];
  return sum;
}

/// Derivative of `loss` by every element of x (dense, f64). D(h) = (loss(x+h) - loss(x-h)) / 2h has
/// an error of order h^2, and (4 D(h/2) - D(h)) / 3 one of order h^4: 1e-12 at h = 1e-3, plus 1e-13
/// from rounding.
template <typename Loss> Numbers differences(const Array &x, Loss loss, double step = 1e-3) {
  Numbers result;
  for (int64_t i = 0; i < x.tensor.elements(); ++i) {
    double &element = x.tensor.as<double>()[i];
    const double kept = element;
    auto central = [&](double h) {
      element = kept + h;
      const double high = loss();
      element = kept - h;
      const double low = loss();
      element = kept;
      return (high - low) / (2 * h);
    };
    result.push_back((4 * central(step / 2) - central(step)) / 3);
  }
  return result;
}

void expectGradient(const Array &got, const Numbers &want, const std::string &what) {
  Numbers values = got.values();
  ASSERT_EQ(values.size(), want.size()) << what;
  double largest = 1e-3;
  for (double v : want)
    largest = std::max(largest, std::fabs(v));
  for (size_t i = 0; i < want.size(); ++i)
    EXPECT_LE(std::fabs(values[i] - want[i]), 1e-7 * largest)
        << what << ", element " << i << ": " << values[i] << ", " << want[i];
}

std::vector<RnnShape> shapesOf(RnnMode mode) {
  std::vector<RnnShape> result;
  for (bool reverse : {false, true})
    for (bool lengths : {false, true})
      for (int options = 0; options < 16; ++options)
        result.push_back({.mode = mode,
                          .steps = 4,
                          .batch = 3,
                          .inputs = 3,
                          .units = 3,
                          .reverse = reverse,
                          .lengths = lengths,
                          .biases = bool(options & 1),
                          .states = bool(options & 2),
                          .finals = bool(options & 4),
                          .gradientOfY = bool(options & 8),
                          .type = DType::F64});
  return result;
}

/// Loss = <dy, y> + <dhN, hN> + <dcN, cN>.
void checkRnnGradient(const RnnShape &s) {
  const int64_t G = gateCount(s.mode), H = s.units;
  const bool gru = s.mode == RnnMode::Gru;
  TestLaunch forward = rnnForward(s);
  Array w = rnnInputWeights(s), r = rnnRecurrentWeights(s);
  forward.run(kernel(KernelId::RnnForward));
  TestLaunch backward = rnnBackward(s, forward);
  if (!s.finals && !s.gradientOfY)
    backward["dy"] = Array(DType::F64, {s.steps, s.batch, H},
                           uniform(-1, 1, 30)); // at least one gradient has to be computed
  // relu has corners, so use a step that rarely crosses one. It has no curvature that would need a
  // longer step.
  const double step = s.mode == RnnMode::Relu ? 1e-5 : 1e-3;
  auto loss = [&] {
    forward["w"] = packed(w, G);
    forward["r"] = packed(r, G);
    forward.run(kernel(KernelId::RnnForward));
    double sum = backward["dy"].storage ? inner(backward["dy"], forward["y"]) : 0;
    if (s.finals)
      sum += inner(backward["dhN"], forward["hN"]);
    if (s.finals && s.mode == RnnMode::Lstm)
      sum += inner(backward["dcN"], forward["cN"]);
    return sum;
  };
  backward.run(kernel(KernelId::RnnBackward));

  auto asUse = [](const Array &a) { // [T, B, N] as [O, B, Q, N]
    Array use = a;
    use.tensor.rank = 4;
    use.tensor.shape = {a.tensor.shape[0], a.tensor.shape[1], 1, a.tensor.shape[2]};
    use.tensor.strides = {a.tensor.strides[0], a.tensor.strides[1], 0, a.tensor.strides[2]};
    return use;
  };
  const Array dz = asUse(backward["dgates"]), dzOfState = gru ? asUse(backward["dhidden"]) : dz;
  Array dw(DType::F64, {G * H, s.inputs}), dr(DType::F64, {G * H, H}), dbi(DType::F64, {G * H}),
      dbh(DType::F64, {G * H});
  const ShardRange shards = ShardRange::all(dz.tensor.shape[1], 8);
  run(WeightGradientArguments{.range = shards}, {dw, Array(), Array(), dz, asUse(forward["x"])});
  run(WeightGradientArguments{.range = shards},
      {dr, Array(), Array(), dzOfState, asUse(forward["before"])});
  run(BiasGradientArguments{.range = shards}, {dbi, Array(), dz});
  run(BiasGradientArguments{.range = shards}, {dbh, Array(), dzOfState});

  expectGradient(dw, differences(w, loss, step), "w");
  expectGradient(dr, differences(r, loss, step), "r");
  expectGradient(backward["dx"], differences(forward["x"], loss, step), "x");
  if (s.biases) {
    expectGradient(dbi, differences(forward["bi"], loss, step), "bi");
    expectGradient(dbh, differences(forward["bh"], loss, step), "bh");
  }
  if (s.states)
    expectGradient(backward["dh0"], differences(forward["h0"], loss, step), "h0");
  if (s.states && s.mode == RnnMode::Lstm)
    expectGradient(backward["dc0"], differences(forward["c0"], loss, step), "c0");

  // If `before` is absent, y and h0 give it; dgates may share the memory of gates: the bits are the
  // same.
  TestLaunch other = rnnBackward(s, forward, true);
  forward.run(kernel(KernelId::RnnForward));
  other["dy"] = backward["dy"];
  other["before"] = Array();
  other.run(kernel(KernelId::RnnBackward));
  for (const char *name : {"dgates", "dx", "dh0"})
    EXPECT_EQ(other[name].values(), backward[name].values()) << name;
}

class RnnGradient : public testing::TestWithParam<RnnMode> {};

TEST_P(RnnGradient, IsThatOfForward) {
  for (const RnnShape &shape : shapesOf(GetParam())) {
    SCOPED_TRACE(shape.text());
    checkRnnGradient(shape);
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, RnnGradient,
                         testing::Values(RnnMode::Relu, RnnMode::Tanh, RnnMode::Lstm, RnnMode::Gru),
                         [](const auto &info) {
                           return std::string(kRnnModeNames[int(info.param)]);
                         });

TEST(Gradient, SoftmaxAndItsLogarithm) {
  for (bool log : {false, true})
    for (bool limited : {false, true}) {
      const Shape shape{3, 5};
      Array x(DType::F64, shape, uniform(-2, 2)), dy(DType::F64, shape, uniform(-1, 1, 1)),
          y(DType::F64, shape), dx(DType::F64, shape);
      Array length = limited ? Array(DType::I32, {3}, listed({5, 2, 0})) : Array();
      auto forward = [&] { run(SoftmaxArguments{.log = log, .temperature = 1.7}, {x, length, y}); };
      forward();
      run(SoftmaxGradientArguments{.log = log, .temperature = 1.7}, {y, dy, length, dx});
      expectGradient(dx, differences(x, [&] { return forward(), inner(dy, y); }),
                     log ? "log softmax" : "softmax");
    }
}

TEST(Gradient, LayerNorm) {
  const Shape shape{4, 6};
  Array x(DType::F64, shape, uniform(-2, 2)), gamma(DType::F64, {6}, uniform(0.5, 2, 1)),
      beta(DType::F64, {6}, uniform(-1, 1, 2));
  Array y(DType::F64, shape), mean(DType::F64, {4}), rstd(DType::F64, {4}),
      dy(DType::F64, shape, uniform(-1, 1, 3));
  Array dx(DType::F64, shape), rows(DType::F64, shape), dgamma(DType::F64, {6});
  auto loss = [&] {
    run(LayerNormArguments{.epsilon = 1e-3}, {x, gamma, beta, y, mean, rstd});
    return inner(dy, y);
  };
  loss();
  run(KernelId::LayerNormGradient, {x, gamma, mean, rstd, dy, dx, rows});
  Array use = rows;
  use.tensor.rank = 4;
  use.tensor.shape = {1, 4, 1, 6};
  use.tensor.strides = {0, 6, 0, 1};
  run(BiasGradientArguments{.range = ShardRange::all(4, 8)}, {dgamma, Array(), use});
  expectGradient(dx, differences(x, loss), "x");
  expectGradient(dgamma, differences(gamma, loss), "gamma");
}

// SoftmaxOutput's gradient is that of its cross entropy, with or without smoothing, divided by the
// normalisation.
TEST(Gradient, SoftmaxOutput) {
  const int64_t A = 5, C = 4;
  for (double alpha : {0.0, 0.2})
    for (auto [normalization, divisor] : {std::pair(SoftmaxNormalization::Null, 1),
                                          {SoftmaxNormalization::Batch, 5},
                                          {SoftmaxNormalization::Valid, 3}}) {
      Array x(DType::F64, {A, C}, uniform(-2, 2)), p(DType::F64, {A, C}),
          label(DType::F32, {A, 1}, listed({1, 0, 3, 1, 2}));
      auto loss = [&] {
        run(SoftmaxArguments{.log = true, .temperature = 1}, {x, Array(), p}); // log p
        double sum = 0;
        for (int64_t a = 0; a < A; ++a)
          for (int64_t c = 0; label.at({a, 0}) != 1 && c < C; ++c) // 1 is ignored
            sum -= p.at({a, c}) * (double(c) == label.at({a, 0}) ? 1 - alpha : alpha / (C - 1));
        return 0.7 * sum / divisor;
      };
      Numbers want = differences(x, loss);
      run(SoftmaxArguments{.log = false, .temperature = 1}, {x, Array(), p});
      Array dx(DType::F64, {A, C, 1}), columns = p;
      columns.tensor.rank = 3;
      columns.tensor.shape = {A, C, 1};
      columns.tensor.strides = {C, 1, 0};
      run(SoftmaxOutputGradientArguments{.useIgnore = true,
                                         .normalization = normalization,
                                         .multi = false,
                                         .ignoreLabel = 1,
                                         .gradScale = 0.7,
                                         .smoothAlpha = alpha},
          {columns, label, Array(), dx});
      expectGradient(dx, want, "x");
    }
}

TEST(Gradient, ProductAndEmbedding) {
  const int64_t B = 5, N = 4, K = 3;
  Array x(DType::F64, {1, B, K}, uniform(-1, 1)), w(DType::F64, {N, K}, uniform(-1, 1, 1)),
      b(DType::F64, {N}, uniform(-1, 1, 2));
  Array y(DType::F64, {1, B, N}), dy(DType::F64, {1, B, N}, uniform(-1, 1, 3));
  auto loss = [&] {
    run(KernelId::Product, {x, packed(w, 0), b, y});
    return inner(dy, y);
  };
  auto use = [&](const Array &a, int64_t columns) {
    Array view = a;
    view.tensor.rank = 4;
    view.tensor.shape = {1, B, 1, columns};
    view.tensor.strides = {0, columns, 0, 1};
    return view;
  };
  Array dw(DType::F64, {N, K}), db(DType::F64, {N}), dx(DType::F64, {1, B, K});
  run(WeightGradientArguments{.range = ShardRange::all(B, 8)},
      {dw, Array(), Array(), use(dy, N), use(x, K)});
  run(BiasGradientArguments{.range = ShardRange::all(B, 8)}, {db, Array(), use(dy, N)});
  run(KernelId::Product, {dy, packed(w.permuted({1, 0}), 0), Array(), dx});
  expectGradient(dw, differences(w, loss), "w");
  expectGradient(db, differences(b, loss), "bias");
  expectGradient(dx, differences(x, loss), "x");

  Array table(DType::F64, {N, K}, uniform(-1, 1, 4)), rows(DType::F64, {1, B, K}),
      drows(DType::F64, {1, B, K}, uniform(-1, 1, 5));
  Array indices(DType::F32, {1, B, 1}, listed({2, 0, 2, 9, -1})), flat = indices;
  flat.tensor.rank = 1;
  flat.tensor.shape[0] = B;
  flat.tensor.strides[0] = 1;
  Array dtable(DType::F64, {N, K}), matrix = table;
  matrix.tensor.rank = 3;
  matrix.tensor.shape = {1, N, K};
  matrix.tensor.strides = {0, K, 1};
  run(WeightGradientArguments{.range = ShardRange::all(B, 8)},
      {dtable, Array(), Array(), use(drows, K), indices});
  expectGradient(dtable,
                 differences(table,
                             [&] {
                               run(GatherArguments{.mode = IndexMode::Clip}, {matrix, flat, rows});
                               return inner(drows, rows);
                             }),
                 "table");
}

TEST(Gradient, OfMoves) {
  for (bool wrap : {false, true}) {
    Array x(DType::F64, {3, 4, 2}, uniform(-1, 1)), indices(DType::I32, {3, 2}, integers(-3, 6));
    Array y(DType::F64, {3, 2}), dy(DType::F64, {3, 2}, uniform(-1, 1, 1)),
        dx(DType::F64, {3, 4, 2});
    run(PickArguments{.wrap = wrap}, {x, indices, y});
    run(PickGradientArguments{.wrap = wrap}, {dy, indices, dx});
    EXPECT_DOUBLE_EQ(inner(dy, y), inner(dx, x));
  }
  Array x(DType::F64, {4, 3, 2}, uniform(-1, 1)), length(DType::I32, {3}, listed({4, 0, 2}));
  Array last(DType::F64, {3, 2}), dlast(DType::F64, {3, 2}, uniform(-1, 1, 1)),
      dx(DType::F64, {4, 3, 2});
  run(KernelId::SequenceLast, {x, length, last});
  run(KernelId::SequenceLastGradient, {dlast, length, dx});
  EXPECT_DOUBLE_EQ(inner(dlast, last), inner(dx, x));
}

} // namespace
} // namespace lstmc::reference
