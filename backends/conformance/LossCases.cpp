#include <functional>

#include "backends/conformance/Cases.h"

namespace lstmc::conformance {

namespace {

using Normalization = SoftmaxNormalization;
constexpr Normalization kNormalizations[] = {Normalization::Null, Normalization::Batch,
                                             Normalization::Valid};

std::string_view nameOf(Normalization normalization) {
  constexpr std::string_view kNames[] = {"null", "batch", "valid"};
  return kNames[size_t(normalization)];
}

struct SoftmaxOutput {
  bool useIgnore = false;
  Normalization normalization = Normalization::Null;
  bool multi = false;
  double alpha = 0;
  int64_t a = 13, c = 17, d = 1;
  DType labels = DType::F32;
  Layout layout = Layout::Dense;
  bool probabilities = false;
  bool inPlace = false;
  double valid = 0; ///< count for the whole batch; 0 if the launch has the whole batch
};

TestLaunch softmaxOutputGradient(const SoftmaxOutput &s) {
  Array p(DType::F32, {s.a, s.c, s.d}, uniform(0, 1), s.layout);
  Array label = s.probabilities ? Array(DType::F32, {s.a, s.c, s.d}, uniform(0, 1, 1), s.layout)
                                : Array(s.labels, {s.a, s.d}, integers(-1, s.c, 1), s.layout);
  return makeLaunch(SoftmaxOutputGradientArguments{.useIgnore = s.useIgnore,
                                                   .normalization = s.normalization,
                                                   .multi = s.multi,
                                                   .ignoreLabel = -1,
                                                   .gradScale = 0.3,
                                                   .smoothAlpha = s.alpha},
                    {p, label,
                     s.valid > 0 ? Array(DType::F64, {1}, constant(s.valid), s.layout) : Array(),
                     s.inPlace ? p : Array(DType::F32, {s.a, s.c, s.d}, s.layout)});
}

void addSoftmaxOutput(std::vector<Case> &cases) {
  auto add = [&](std::string what, SoftmaxOutput s) {
    conformance::add(cases, KernelId::SoftmaxOutputGradient, what,
                     [=] { return softmaxOutputGradient(s); });
  };
  for (bool ignore : {false, true})
    for (Normalization normalization : kNormalizations)
      for (bool multi : {false, true})
        for (double alpha : {0.0, 0.1})
          add(fmt::format("normalization {}{}{}{}", nameOf(normalization), ignore ? ", ignore" : "",
                          multi ? ", multi" : "", alpha > 0 ? ", smooth" : ""),
              {.useIgnore = ignore,
               .normalization = normalization,
               .multi = multi,
               .alpha = alpha,
               .d = multi ? 5 : 1});
  for (int64_t columns : {1, 2, 15, 16, 33, 65, 300})
    add(fmt::format("{} columns", columns),
        {.useIgnore = true, .normalization = Normalization::Valid, .c = columns});
  for (DType labels : {DType::I32, DType::I64, DType::U8, DType::F64})
    add(fmt::format("{} labels", dtypeName(labels)),
        {.useIgnore = true, .normalization = Normalization::Valid, .labels = labels});
  for (Layout layout : kAnyLayout)
    for (int64_t d : {1, 6}) {
      add(fmt::format("{}, D {}", layoutName(layout), d), {.useIgnore = true,
                                                           .normalization = Normalization::Valid,
                                                           .multi = d > 1,
                                                           .d = d,
                                                           .layout = layout});
      for (Normalization normalization : {Normalization::Batch, Normalization::Valid})
        add(fmt::format("{}, D {}, normalization {} over a larger batch", layoutName(layout), d,
                        nameOf(normalization)),
            {.normalization = normalization,
             .multi = d > 1,
             .d = d,
             .layout = layout,
             .valid = 99});
      add(fmt::format("{}, D {}, in place", layoutName(layout), d),
          {.useIgnore = true,
           .normalization = Normalization::Batch,
           .multi = d > 1,
           .d = d,
           .layout = layout,
           .inPlace = true});
      add(fmt::format("{}, D {}, probabilities", layoutName(layout), d),
          {.normalization = Normalization::Batch,
           .multi = d > 1,
           .d = d,
           .layout = layout,
           .probabilities = true});
    }
}

void addValidCount(std::vector<Case> &cases) {
  for (Layout layout : kAnyLayout)
    for (DType labels : {DType::F32, DType::I32, DType::I64, DType::U8, DType::F64})
      add(cases, KernelId::ValidCount, fmt::format("{} {}", dtypeName(labels), layoutName(layout)),
          [=] {
            return makeLaunch(
                ValidCountArguments{.ignoreLabel = 2},
                {Array(labels, {17, 5}, integers(0, 3), layout), Array(DType::F64, {1}, layout)});
          });
  add(cases, KernelId::ValidCount, "no labels", [] {
    return makeLaunch(ValidCountArguments{.ignoreLabel = -1},
                      {Array(DType::I32, {0, 5}), Array(DType::F64, {1})});
  });
}

void addCrossEntropy(std::vector<Case> &cases) {
  for (int64_t rows : {0, 1, 15, 16, 17, 100})
    for (int64_t classes : {1, 16, 65})
      add(cases, KernelId::SoftmaxCrossEntropy, fmt::format("{} rows of {}", rows, classes), [=] {
        return makeLaunch(KernelId::SoftmaxCrossEntropy,
                          {Array(DType::F32, {rows, classes}, uniform(-9, 9)),
                           Array(DType::F32, {rows}, integers(-1, classes, 1)),
                           Array(DType::F32, {1})});
      });
  for (Layout layout : kAnyLayout)
    for (DType type : {DType::F32, DType::F64})
      add(cases, KernelId::SoftmaxCrossEntropy,
          fmt::format("{} {}", dtypeName(type), layoutName(layout)), [=] {
            return makeLaunch(KernelId::SoftmaxCrossEntropy,
                              {Array(type, {20, 37}, uniform(-9, 9), layout),
                               Array(DType::I32, {20}, integers(0, 36), layout),
                               Array(type, {1}, layout)});
          });
}

/// Memory for the sums of the batch, or of each of `rows`: the fields of `step`, or of `evaluate`.
Array sums(Layout layout = Layout::Dense, int64_t fields = kMetricFields) {
  return Array(DType::F64, {fields}, layout);
}
Array sumsOfRows(int64_t rows, int64_t fields = kMetricFields) {
  return Array(DType::F64, {rows, fields});
}
constexpr int64_t kAllFields[] = {kMetricFields, kEvaluationFields};
std::string fieldsName(int64_t fields) { return fmt::format(", {} fields", fields); }

struct SoftmaxMetric {
  std::vector<int64_t> shape; ///< shape of the labels
  int64_t classes;
  bool useIgnore = false, valid = false;
  double alpha = 0;
  DType type = DType::F32, labels = DType::F32;
  bool probabilities = false;
  Layout layout = Layout::Dense;
};

/// A launch with scale 0.7, in which 3 is the label to ignore.
TestLaunch softmaxMetric(const SoftmaxMetric &s, const ShardRange &range, Array y) {
  std::vector<int64_t> logits = s.shape;
  logits.push_back(s.classes);
  Array label = s.probabilities ? Array(s.labels, logits, uniform(0, 1, 1), s.layout)
                                : Array(s.labels, s.shape, integers(0, s.classes, 1), s.layout);
  return makeLaunch(SoftmaxMetricArguments{.range = range,
                                           .useIgnore = s.useIgnore,
                                           .valid = s.valid,
                                           .ignoreLabel = 3,
                                           .smoothAlpha = s.alpha,
                                           .scale = 0.7},
                    {Array(s.type, logits, uniform(-5, 5), s.layout), label, y});
}

TestLaunch regressionMetric(DType type, const std::vector<int64_t> &shape, const ShardRange &range,
                            RegressionLoss loss, Array y, Layout layout = Layout::Dense) {
  return makeLaunch(RegressionMetricArguments{.range = range, .loss = loss, .scale = 0.7},
                    {Array(type, shape, uniform(-5, 5), layout),
                     Array(type, shape, uniform(0, 1, 1), layout), y});
}

TestLaunch lossMetric(DType type, const std::vector<int64_t> &shape, const ShardRange &range,
                      bool valid, Array y, Layout layout = Layout::Dense) {
  return makeLaunch(
      LossMetricArguments{.range = range, .valid = valid, .validThresh = 0.5, .scale = 0.7},
      {Array(type, shape, uniform(-5, 5), layout), y});
}

constexpr std::pair<RegressionLoss, std::string_view> kRegressions[] = {
    {RegressionLoss::HalfSquare, ""},
    {RegressionLoss::Absolute, ", absolute"},
    {RegressionLoss::Logistic, ", logistic"}};

void addSoftmaxMetrics(std::vector<Case> &cases) {
  auto add = [&](std::string what, std::function<TestLaunch()> launch) {
    conformance::add(cases, KernelId::SoftmaxMetric, what, launch);
  };
  for (bool ignore : {false, true})
    for (int64_t batch : {1, 2, 5, 8, 11})
      for (int64_t shards : {1, 3, 8})
        add(fmt::format("batch {}, {} shards{}", batch, shards, ignore ? ", ignore" : ""), [=] {
          return softmaxMetric({{7, batch, 2}, 19, ignore}, ShardRange::all(batch, shards), sums());
        });
  for (double alpha : {0.0, 0.1})
    for (bool valid : {false, true})
      for (int64_t classes : {1, 5, 16, 33})
        add(fmt::format("{} classes{}{}", classes, valid ? ", valid" : "",
                        alpha > 0 ? ", smooth" : ""),
            [=] {
              return softmaxMetric({{3, 6, 4}, classes, !valid, valid, alpha},
                                   ShardRange::all(6, 8), sums());
            });
  for (int64_t batch : {0, 1, 5, 40}) // the sums of each row
    for (bool probabilities : {false, true})
      for (int64_t fields : kAllFields)
        add(fmt::format("{} rows apart{}{}", batch, probabilities ? ", probabilities" : "",
                        fieldsName(fields)),
            [=] {
              return softmaxMetric({.shape = {7, batch, 2},
                                    .classes = 19,
                                    .useIgnore = true,
                                    .probabilities = probabilities},
                                   ShardRange::all(batch, 8), sumsOfRows(batch, fields));
            });
  for (int64_t classes : {1, 2, 9, 11, 1500}) // two for the second against the first; ranks
    for (Layout layout : kAnyLayout)
      for (int64_t shards : {1, 90})
        add(fmt::format("ranks among {} {}, {} shards", classes, layoutName(layout), shards), [=] {
          return softmaxMetric(
              {.shape = {2, 33, 3}, .classes = classes, .useIgnore = classes > 3, .layout = layout},
              ShardRange::all(33, shards), sums(layout, kEvaluationFields));
        });
  for (Layout layout : kAnyLayout)
    for (DType type : {DType::F32, DType::F64})
      for (bool probabilities : {false, true})
        add(fmt::format("{} {}{}", dtypeName(type), layoutName(layout),
                        probabilities ? ", probabilities" : ""),
            [=] {
              return softmaxMetric({.shape = {3, 6, 4},
                                    .classes = 65,
                                    .useIgnore = true,
                                    .type = type,
                                    .labels = probabilities ? type : DType::I32,
                                    .probabilities = probabilities,
                                    .layout = layout},
                                   ShardRange::all(6, 8), sums(layout));
            });
  for (const ShardRange &range : kShardRanges)
    add(rangeName(range),
        [=] { return softmaxMetric({{7, range.rows(), 2}, 19, true}, range, sums()); });
  const SoftmaxMetricArguments plain{.range = ShardRange::all(90, 8),
                                     .useIgnore = false,
                                     .valid = false,
                                     .ignoreLabel = 0,
                                     .smoothAlpha = 0,
                                     .scale = 1};
  for (int64_t fields : kAllFields)
    for (int64_t classes : {2, 40}) {
      const Shape logits = {1, 90, 1, classes}, rows = {1, 90, 1};
      const Values labels = integers(-1, classes, 1); // also beyond the classes
      add(fmt::format("equal logits of {}{}", classes, fieldsName(fields)), [=] {
        // the first of the largest elements counts
        return makeLaunch(plain, {Array(DType::F32, logits, integers(0, 2)),
                                  Array(DType::F32, rows, labels), sums(Layout::Dense, fields)});
      });
      add(fmt::format("any logits of {}{}", classes, fieldsName(fields)), [=] {
        return makeLaunch(plain, {Array(DType::F32, logits, anything()),
                                  Array(DType::I32, rows, labels), sums(Layout::Dense, fields)});
      });
    }
}

void addRegressionMetrics(std::vector<Case> &cases) {
  auto add = [&](std::string what, std::function<TestLaunch()> launch) {
    conformance::add(cases, KernelId::RegressionMetric, what, launch);
  };
  for (auto [loss, name] : kRegressions) {
    for (Layout layout : kAnyLayout)
      for (DType type : {DType::F32, DType::F64})
        add(fmt::format("{} {}{}", dtypeName(type), layoutName(layout), name), [=] {
          return regressionMetric(type, {3, 7, 9}, ShardRange::all(7, 8), loss, sums(layout),
                                  layout);
        });
    for (int64_t batch : {0, 1, 3, 9, 40})
      for (int64_t shards : {1, 5, 8})
        add(fmt::format("batch {}, {} shards{}", batch, shards, name), [=] {
          return regressionMetric(DType::F32, {1, batch, 5}, ShardRange::all(batch, shards), loss,
                                  sums());
        });
  }
  for (int64_t batch : {0, 1, 5, 40})
    for (int64_t fields : kAllFields)
      add(fmt::format("{} rows apart{}", batch, fieldsName(fields)), [=] {
        return regressionMetric(DType::F32, {2, batch, 9}, ShardRange::all(batch, 8),
                                RegressionLoss::HalfSquare, sumsOfRows(batch, fields));
      });
  for (auto [loss, name] : kRegressions)
    for (DType type : {DType::F32, DType::F64})
      for (int64_t shards : {1, 90})
        add(fmt::format("moments, {}, {} shards{}", dtypeName(type), shards, name), [=] {
          return regressionMetric(type, {3, 7, 9}, ShardRange::all(7, shards), loss,
                                  sums(Layout::Strided, kEvaluationFields));
        });
  for (const ShardRange &range : kShardRanges)
    add(rangeName(range), [=] {
      return regressionMetric(DType::F32, {1, range.rows(), 5}, range, RegressionLoss::HalfSquare,
                              sums());
    });
}

void addLossMetrics(std::vector<Case> &cases) {
  auto add = [&](std::string what, std::function<TestLaunch()> launch) {
    conformance::add(cases, KernelId::LossMetric, what, launch);
  };
  for (bool valid : {false, true})
    for (Layout layout : kAnyLayout)
      for (DType type : {DType::F32, DType::F64})
        add(fmt::format("{} {}{}", dtypeName(type), layoutName(layout), valid ? ", valid" : ""),
            [=] {
              return lossMetric(type, {3, 7, 9}, ShardRange::all(7, 8), valid, sums(layout),
                                layout);
            });
  for (int64_t batch : {0, 1, 3, 9, 40})
    for (int64_t shards : {1, 5, 8})
      add(fmt::format("batch {}, {} shards", batch, shards), [=] {
        return lossMetric(DType::F32, {2, batch, 5}, ShardRange::all(batch, shards), false, sums());
      });
  for (int64_t fields : kAllFields) {
    for (int64_t batch : {0, 1, 5, 40})
      add(fmt::format("{} rows apart{}", batch, fieldsName(fields)), [=] {
        return lossMetric(DType::F64, {1, batch, 17}, ShardRange::all(batch, 8), true,
                          sumsOfRows(batch, fields));
      });
    add("all fields" + fieldsName(fields), [=] {
      return lossMetric(DType::F32, {1, 9, 17}, ShardRange::all(9, 8), true,
                        sums(Layout::Dense, fields));
    });
  }
  for (const ShardRange &range : kShardRanges)
    add(rangeName(range),
        [=] { return lossMetric(DType::F32, {2, range.rows(), 5}, range, false, sums()); });
}

/// Every operand that is no label has such numbers.
void addDenormals(std::vector<Case> &cases, DType type) {
  const std::string name = fmt::format("{} about denormals", dtypeName(type));
  auto some = [=](Shape shape, uint64_t salt) {
    return Array(type, std::move(shape), nearDenormals(type, salt));
  };
  auto add = [&](KernelId id, std::string_view what, std::function<TestLaunch()> launch) {
    conformance::add(cases, id, name + std::string(what), launch);
  };
  for (bool probabilities : {false, true}) {
    const char *what = probabilities ? ", probabilities" : "";
    add(KernelId::SoftmaxOutputGradient, what, [=] {
      return makeLaunch(
          SoftmaxOutputGradientArguments{.gradScale = 0x1p-511, .smoothAlpha = 0},
          {some({70, 5, 1}, 1),
           probabilities ? some({70, 5, 1}, 2) : Array(DType::I32, {70, 1}, integers(0, 4)),
           Array(), Array(type, {70, 5, 1})});
    });
    add(KernelId::SoftmaxMetric, what, [=] {
      return makeLaunch(
          SoftmaxMetricArguments{.range = ShardRange::all(90, 8), .scale = 1},
          {some({1, 90, 1, 3}, 1),
           probabilities ? some({1, 90, 1, 3}, 2) : Array(DType::I32, {1, 90, 1}, integers(0, 2)),
           sumsOfRows(90, kEvaluationFields)});
    });
  }
  add(KernelId::SoftmaxCrossEntropy, "", [=] {
    return makeLaunch(
        KernelId::SoftmaxCrossEntropy,
        {some({20, 3}, 1), Array(DType::I32, {20}, integers(0, 2)), Array(type, {1})});
  });
  for (auto [loss, what] : kRegressions)
    add(KernelId::RegressionMetric, what, [=] {
      return makeLaunch(
          RegressionMetricArguments{
              .range = ShardRange::all(400, 8), .loss = loss, .scale = 0x1p-2},
          {some({1, 400, 1}, 1), some({1, 400, 1}, 2), sumsOfRows(400, kEvaluationFields)});
    });
  for (bool valid : {false, true})
    add(KernelId::LossMetric, valid ? ", valid" : "", [=] {
      return makeLaunch(LossMetricArguments{.range = ShardRange::all(400, 8),
                                            .valid = valid,
                                            .validThresh = 0x1p-1030,
                                            .scale = 0x1p-2},
                        {some({1, 400, 1}, 1), sumsOfRows(400)});
    });
}

} // namespace

void addLossCases(std::vector<Case> &cases) {
  addSoftmaxOutput(cases);
  addValidCount(cases);
  addCrossEntropy(cases);
  addSoftmaxMetrics(cases);
  addRegressionMetrics(cases);
  addLossMetrics(cases);
  for (DType type : {DType::F32, DType::F64})
    addDenormals(cases, type);
}

} // namespace lstmc::conformance
