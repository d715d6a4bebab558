// The results of kernels on cases small enough to compute by hand (mxnet.md 3.3 to 3.6).
#include <cmath>

#include <gtest/gtest.h>

#include "executor/abi/Kernels.h"
#include "tests/executor/reference/Run.h"

namespace lstmc::reference {
namespace {

using Numbers = std::vector<double>;

Array f32(Shape shape, Numbers values) {
  return Array(DType::F32, shape, listed(std::move(values)));
}

TEST(Meaning, GatherClipsOrWraps) {
  Array w = f32({1, 3, 2}, {0, 1, 10, 11, 20, 21}), y(DType::F32, {1, 5, 2});
  Array indices = f32({5}, {-1, 0, 2, 3, 1.9});
  run(GatherArguments{.mode = IndexMode::Clip}, {w, indices, y});
  EXPECT_EQ(y.values(), (Numbers{0, 1, 0, 1, 20, 21, 20, 21, 10, 11}));
  run(GatherArguments{.mode = IndexMode::Wrap}, {w, indices, y});
  EXPECT_EQ(y.values(), (Numbers{20, 21, 0, 1, 20, 21, 0, 1, 10, 11}));
}

TEST(Meaning, OneHotIgnoresWhatIsOutside) {
  Array y(DType::F32, {3, 2});
  run(OneHotArguments{.on = 5, .off = 2}, {f32({3}, {1, -1, 2}), y});
  EXPECT_EQ(y.values(), (Numbers{2, 5, 2, 2, 2, 2}));
}

TEST(Meaning, PickAndItsGradient) {
  Array x = f32({2, 3, 1}, {0, 1, 2, 10, 11, 12}), indices = f32({2, 1}, {2, 7}),
        y(DType::F32, {2, 1});
  run(PickArguments{.wrap = false}, {x, indices, y});
  EXPECT_EQ(y.values(), (Numbers{2, 12}));
  run(PickArguments{.wrap = true}, {x, indices, y});
  EXPECT_EQ(y.values(), (Numbers{2, 11}));
  Array dx(DType::F32, {2, 3, 1});
  run(PickGradientArguments{.wrap = false}, {f32({2, 1}, {5, 6}), indices, dx});
  EXPECT_EQ(dx.values(), (Numbers{0, 0, 5, 0, 0, 6}));
}

TEST(Meaning, ArgMaxIsTheFirstAndNaNTheLargest) {
  Array y(DType::F32, {3});
  run(ReduceArguments{.kind = ReduceKind::ArgMax, .kept = 1},
      {f32({3, 4}, {1, 3, 3, 2, 1, NAN, 9, NAN, -5, -5, -5, -5}), y});
  EXPECT_EQ(y.values(), (Numbers{1, 1, 0}));
}

TEST(Meaning, ArangeRepeats) {
  Array y(DType::F32, {5});
  run(ArangeArguments{.repeat = 2, .start = 1, .step = 0.5}, {y});
  EXPECT_EQ(y.values(), (Numbers{1, 1, 1.5, 1.5, 2}));
}

TEST(Meaning, Sequences) {
  Array x = f32({3, 2, 1}, {1, 2, 3, 4, 5, 6}),
        length = f32({2}, {2, 0}); // sequences 1 3 5 and 2 4 6
  Array y(DType::F32, {3, 2, 1});
  run(SequenceMaskArguments{.value = -1}, {x, length, y});
  EXPECT_EQ(y.values(), (Numbers{1, -1, 3, -1, -1, -1}));
  run(KernelId::SequenceReverse, {x, length, y});
  EXPECT_EQ(y.values(), (Numbers{3, 2, 1, 4, 5, 6}));
  Array last(DType::F32, {2, 1});
  run(KernelId::SequenceLast, {x, length, last});
  EXPECT_EQ(last.values(), (Numbers{3, 2})); // length 0 is clipped to the first step
  run(KernelId::SequenceLastGradient, {f32({2, 1}, {7, 8}), length, y});
  EXPECT_EQ(y.values(), (Numbers{0, 8, 7, 0, 0, 0}));
}

using Normalization = SoftmaxNormalization;

struct OutputOptions {
  bool useIgnore = false;
  Normalization normalization = Normalization::Null;
  bool multi = false;
  double gradScale = 1, alpha = 0;
  double valid = -1; ///< the divisor; absent if negative
};

/// dx of SoftmaxOutput, where label 0 is ignored.
Numbers softmaxOutput(Array p, Array label, OutputOptions options = {}) {
  Array dx(DType::F64, Shape(p.tensor.shape.begin(), p.tensor.shape.begin() + 3));
  Array divisor = options.valid < 0 ? Array() : Array(DType::F64, {1}, constant(options.valid));
  run(SoftmaxOutputGradientArguments{.useIgnore = options.useIgnore,
                                     .normalization = options.normalization,
                                     .multi = options.multi,
                                     .ignoreLabel = 0,
                                     .gradScale = options.gradScale,
                                     .smoothAlpha = options.alpha},
      {p, label, divisor, dx});
  return dx.values();
}

TEST(Meaning, SoftmaxOutputGradient) {
  Array p(DType::F64, {2, 2, 1}, listed({0.25, 0.75, 0.5, 0.5})), label = f32({2, 1}, {1, 0});
  EXPECT_EQ(softmaxOutput(p, label), (Numbers{0.25, -0.25, -0.5, 0.5}));
  EXPECT_EQ(softmaxOutput(p, label, {.gradScale = 4}), (Numbers{1, -1, -2, 2}));
  EXPECT_EQ(softmaxOutput(p, label, {.useIgnore = true}),
            (Numbers{0.25, -0.25, 0, 0})); // label 0 is ignored
  EXPECT_EQ(softmaxOutput(p, label, {.normalization = Normalization::Batch}),
            (Numbers{0.125, -0.125, -0.25, 0.25}));
  // valid counts labels other than the ignored one even if useIgnore is off: one
  EXPECT_EQ(softmaxOutput(p, label, {.normalization = Normalization::Valid}),
            (Numbers{0.25, -0.25, -0.5, 0.5}));
  EXPECT_EQ(softmaxOutput(p, f32({2, 1}, {0, 0}),
                          {.useIgnore = true, .normalization = Normalization::Valid}),
            (Numbers{0, 0, 0, 0})); // by max(1, 0)
  // alpha 1/4, two classes: p - 1 + 1/4, and p - 1/4
  EXPECT_EQ(softmaxOutput(p, label, {.alpha = 0.25}), (Numbers{0, 0, -0.25, 0.25}));
  Array probabilities(DType::F64, {2, 2, 1}, listed({0, 1, 0.5, 0.5}));
  EXPECT_EQ(softmaxOutput(p, probabilities,
                          {.useIgnore = true,
                           .normalization = Normalization::Valid,
                           .multi = true,
                           .gradScale = 2}),
            (Numbers{0.5, -0.5, 0, 0}));
}

// The rows of a device are divided by the count of the whole batch.
TEST(Meaning, SoftmaxOutputGradientOfAPart) {
  Array p(DType::F64, {1, 2, 1}, listed({0.25, 0.75})), label = f32({1, 1}, {1});
  for (Normalization normalization : {Normalization::Batch, Normalization::Valid}) {
    EXPECT_EQ(softmaxOutput(p, label, {.normalization = normalization, .valid = 4}),
              (Numbers{0.0625, -0.0625}));
    EXPECT_EQ(softmaxOutput(p, label, {.normalization = normalization, .valid = 0}),
              (Numbers{0.25, -0.25}));
  }
  Array two(DType::F64, {1, 2, 2}, listed({0.5, 0.5, 0.5, 0.5})), labels = f32({1, 2}, {1, 1});
  EXPECT_EQ(softmaxOutput(two, labels,
                          {.normalization = Normalization::Batch, .multi = true, .valid = 8})[0],
            0.5 / 2 / 8);
  EXPECT_EQ(softmaxOutput(two, labels,
                          {.normalization = Normalization::Valid, .multi = true, .valid = 8})[0],
            0.5 / 8);
}

TEST(Meaning, ValidCount) {
  Array y(DType::F64, {1});
  run(ValidCountArguments{.ignoreLabel = -1}, {f32({2, 3}, {1, -1, 0, -1, 7, -1}), y});
  EXPECT_EQ(y.values(), Numbers{3});
  run(ValidCountArguments{.ignoreLabel = -1}, {f32({2, 1}, {-1, -1}), y});
  EXPECT_EQ(y.values(), Numbers{0}); // the counts of parts are added before the result is limited
                                     // to at least 1
  run(ValidCountArguments{.ignoreLabel = 2}, {f32({1, 2}, {2.5, 3}), y});
  EXPECT_EQ(y.values(), Numbers{1}); // labels are truncated
}

TEST(Meaning, SoftmaxOutputGradientOfSeveralPositions) {
  Array p(DType::F64, {1, 2, 4}, listed({0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5})),
      label = f32({1, 4}, {1, 1, 0, 1});
  auto first = [&](OutputOptions options) { return softmaxOutput(p, label, options)[0]; };
  EXPECT_EQ(first({.multi = true}), 0.5 / 4); // by the number of positions
  EXPECT_EQ(first({.normalization = Normalization::Batch, .multi = true}),
            0.5 / 4 / 1); // and of samples
  EXPECT_EQ(first({.normalization = Normalization::Valid, .multi = true}),
            0.5 / 3); // or only of valid labels
  EXPECT_EQ(softmaxOutput(p, label, {.multi = true, .alpha = 0.25})[0],
            0.5 / 4); // smoothing has no effect here
}

TEST(Meaning, FusedReadsEverythingBeforeItWrites) {
  // (a, b) = (b, a), in place
  auto program = std::make_shared<FusedProgram>();
  program->types = {DType::F32, DType::F32, DType::F32, DType::F32};
  program->results = {-1, -1, 1, 0};
  Array a = f32({2}, {1, 2}), b = f32({2}, {3, 4});
  TestLaunch launch(KernelId::Fused);
  launch.operands = {a, b, a, b};
  setArguments(launch, FusedArguments{.program = 0, .window = {}});
  launch.program = program;
  launch.run(kernel(KernelId::Fused));
  EXPECT_EQ(a.values(), (Numbers{3, 4}));
  EXPECT_EQ(b.values(), (Numbers{1, 2}));
}

Array initialised(InitKind kind, Shape shape, double a, double b = 0,
                  OrthogonalStart variant = OrthogonalStart::Uniform, int64_t ordinal = 1) {
  const InitialiseArguments arguments{
      .kind = kind, .ordinal = ordinal, .variant = variant, .a = a, .b = b};
  Array w(DType::F64, shape), scratch;
  if (kind == InitKind::Orthogonal) {
    const int64_t columns = w.tensor.elements() / shape[0];
    scratch = Array(DType::U8, {scratchOf<int64_t>(arguments, shape[0], columns, 8).bytes});
  }
  run(arguments, {Array(DType::I64, {1}, constant(42)), w, scratch});
  return w;
}

TEST(Meaning, InitialValues) {
  EXPECT_EQ(initialised(InitKind::Constant, {3}, 0.5).values(), (Numbers{0.5, 0.5, 0.5}));
  EXPECT_EQ(initialised(InitKind::LstmBias, {8}, 1).values(), (Numbers{0, 0, 1, 1, 0, 0, 0, 0}));

  const int64_t n = 40000;
  Numbers u = initialised(InitKind::Uniform, {n}, -2, 4).values();
  double mean = 0, square = 0;
  for (double v : u) {
    EXPECT_TRUE(v >= -2 && v < 4);
    mean += v / n;
    square += (v - 1) * (v - 1) / n;
  }
  // Standard errors: deviation sqrt(3) / 200 of the mean, sqrt(7.2) / 200 of the variance; 4 of
  // them
  EXPECT_NEAR(mean, 1, 0.035);
  EXPECT_NEAR(square, 3, 0.054);
  EXPECT_NE(u, initialised(InitKind::Uniform, {n}, -2, 4, OrthogonalStart::Uniform, 2)
                   .values()); // another ordinal

  Numbers z = initialised(InitKind::Normal, {n}, 0.5).values();
  double moments[5] = {};
  for (double v : z)
    for (int k = 1; k <= 4; ++k)
      moments[k] += std::pow(v / 0.5, k) / n;
  EXPECT_NEAR(moments[1], 0, 4 / 200.0); // deviations 1, sqrt 2, sqrt 15, sqrt 96 over sqrt n
  EXPECT_NEAR(moments[2], 1, 4 * 1.42 / 200);
  EXPECT_NEAR(moments[3], 0, 4 * 3.9 / 200);
  EXPECT_NEAR(moments[4], 3, 4 * 9.8 / 200);
  double neighbours = 0; // cosine and sine of one angle are uncorrelated
  for (int64_t i = 0; i + 1 < n; i += 2)
    neighbours += z[i] * z[i + 1] / 0.25 / (n / 2.0);
  EXPECT_NEAR(neighbours, 0, 4 / std::sqrt(n / 2.0));
}

TEST(Meaning, OrthogonalRowsOrColumnsTheFewer) {
  for (OrthogonalStart variant : {OrthogonalStart::Uniform, OrthogonalStart::Normal})
    for (Shape shape : {Shape{5, 12}, Shape{12, 5}, Shape{8, 8}, Shape{70, 70}, Shape{150, 1100}}) {
      Array w = initialised(InitKind::Orthogonal, shape, 1.5, 0, variant);
      const int64_t rows = shape[0], columns = shape[1];
      const int64_t count = std::min(rows, columns), size = std::max(rows, columns);
      for (int64_t i = 0; i < count; ++i)
        for (int64_t j = 0; j < count; ++j) {
          double dot = 0;
          for (int64_t e = 0; e < size; ++e)
            dot += rows <= columns ? w.at({i, e}) * w.at({j, e}) : w.at({e, i}) * w.at({e, j});
          EXPECT_NEAR(dot, i == j ? 2.25 : 0, 1e-14);
        }
    }
}

// A tensor's values do not depend on its division: element e is the same in a longer tensor.
TEST(Meaning, InitialValuesAreByElement) {
  for (InitKind kind : {InitKind::Uniform, InitKind::Normal}) {
    Numbers longer = initialised(kind, {10}, 1, 2).values(),
            shorter = initialised(kind, {7}, 1, 2).values();
    longer.resize(7);
    EXPECT_EQ(longer, shorter);
  }
}

} // namespace
} // namespace lstmc::reference
