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
  double valid = 0; ///< what the whole batch counts; 0 where there is no more of it
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

void addMetrics(std::vector<Case> &cases) {
  for (bool ignore : {false, true})
    for (int64_t batch : {1, 2, 5, 8, 11})
      for (int64_t shards : {1, 3, 8})
        add(cases, KernelId::SoftmaxMetric,
            fmt::format("batch {}, {} shards{}", batch, shards, ignore ? ", ignore" : ""), [=] {
              return makeLaunch(SoftmaxMetricArguments{.range = ShardRange::all(batch, shards),
                                                       .useIgnore = ignore,
                                                       .ignoreLabel = 3},
                                {Array(DType::F32, {7, batch, 2, 19}, uniform(-5, 5)),
                                 Array(DType::F32, {7, batch, 2}, integers(0, 19, 1)),
                                 Array(DType::F64, {4})});
            });
  for (int64_t batch : {0, 1, 5, 40}) { // the sums of each row
    std::string what = fmt::format("{} rows apart", batch);
    add(cases, KernelId::SoftmaxMetric, what, [=] {
      return makeLaunch(
          SoftmaxMetricArguments{
              .range = ShardRange::all(batch, 8), .useIgnore = true, .ignoreLabel = 3},
          {Array(DType::F32, {7, batch, 2, 19}, uniform(-5, 5)),
           Array(DType::F32, {7, batch, 2}, integers(0, 19, 1)), Array(DType::F64, {batch, 4})});
    });
    add(cases, KernelId::RegressionMetric, what, [=] {
      return makeLaunch(
          RegressionMetricArguments{.range = ShardRange::all(batch, 8), .logistic = false},
          {Array(DType::F32, {2, batch, 9}, uniform(-5, 5)),
           Array(DType::F32, {2, batch, 9}, uniform(0, 1, 1)), Array(DType::F64, {batch, 4})});
    });
    add(cases, KernelId::LossMetric, what, [=] {
      return makeLaunch(
          LossMetricArguments{.range = ShardRange::all(batch, 8)},
          {Array(DType::F64, {1, batch, 17}, uniform(-5, 5)), Array(DType::F64, {batch, 4})});
    });
  }
  for (Layout layout : kAnyLayout) {
    for (DType type : {DType::F32, DType::F64})
      add(cases, KernelId::SoftmaxMetric, fmt::format("{} {}", dtypeName(type), layoutName(layout)),
          [=] {
            return makeLaunch(SoftmaxMetricArguments{.range = ShardRange::all(6, 8),
                                                     .useIgnore = true,
                                                     .ignoreLabel = -1},
                              {Array(type, {3, 6, 4, 65}, uniform(-5, 5), layout),
                               Array(DType::I32, {3, 6, 4}, integers(0, 64, 1), layout),
                               Array(DType::F64, {4}, layout)});
          });
    for (bool logistic : {false, true})
      for (DType type : {DType::F32, DType::F64})
        add(cases, KernelId::RegressionMetric,
            fmt::format("{}{} {}", logistic ? "logistic " : "", dtypeName(type),
                        layoutName(layout)),
            [=] {
              return makeLaunch(
                  RegressionMetricArguments{.range = ShardRange::all(7, 8), .logistic = logistic},
                  {Array(type, {3, 7, 9}, uniform(-5, 5), layout),
                   Array(type, {3, 7, 9}, uniform(0, 1, 1), layout),
                   Array(DType::F64, {4}, layout)});
            });
    for (DType type : {DType::F32, DType::F64})
      add(cases, KernelId::LossMetric, fmt::format("{} {}", dtypeName(type), layoutName(layout)),
          [=] {
            return makeLaunch(
                LossMetricArguments{.range = ShardRange::all(7, 8)},
                {Array(type, {3, 7, 9}, uniform(-5, 5), layout), Array(DType::F64, {4}, layout)});
          });
  }
  for (int64_t batch : {0, 1, 3, 9, 40})
    for (int64_t shards : {1, 5, 8}) {
      std::string what = fmt::format("batch {}, {} shards", batch, shards);
      for (bool logistic : {false, true})
        add(cases, KernelId::RegressionMetric, what + (logistic ? ", logistic" : ""), [=] {
          return makeLaunch(RegressionMetricArguments{.range = ShardRange::all(batch, shards),
                                                      .logistic = logistic},
                            {Array(DType::F32, {1, batch, 5}, uniform(-5, 5)),
                             Array(DType::F32, {1, batch, 5}, uniform(0, 1, 1)),
                             Array(DType::F64, {4})});
        });
      add(cases, KernelId::LossMetric, what, [=] {
        return makeLaunch(
            LossMetricArguments{.range = ShardRange::all(batch, shards)},
            {Array(DType::F32, {2, batch, 5}, uniform(-5, 5)), Array(DType::F64, {4})});
      });
    }
  for (const ShardRange &range : kShardRanges) {
    const int64_t rows = range.rows();
    add(cases, KernelId::SoftmaxMetric, rangeName(range), [=] {
      return makeLaunch(SoftmaxMetricArguments{.range = range, .useIgnore = true, .ignoreLabel = 3},
                        {Array(DType::F32, {7, rows, 2, 19}, uniform(-5, 5)),
                         Array(DType::F32, {7, rows, 2}, integers(0, 19, 1)),
                         Array(DType::F64, {4})});
    });
    add(cases, KernelId::RegressionMetric, rangeName(range), [=] {
      return makeLaunch(RegressionMetricArguments{.range = range, .logistic = false},
                        {Array(DType::F32, {1, rows, 5}, uniform(-5, 5)),
                         Array(DType::F32, {1, rows, 5}, uniform(0, 1, 1)),
                         Array(DType::F64, {4})});
    });
    add(cases, KernelId::LossMetric, rangeName(range), [=] {
      return makeLaunch(LossMetricArguments{.range = range},
                        {Array(DType::F32, {2, rows, 5}, uniform(-5, 5)), Array(DType::F64, {4})});
    });
  }
  add(cases, KernelId::SoftmaxMetric, "equal logits", [] { // the first of the largest counts
    return makeLaunch(SoftmaxMetricArguments{.range = ShardRange::all(9, 8),
                                             .useIgnore = false,
                                             .ignoreLabel = 0},
                      {Array(DType::F32, {1, 9, 1, 40}, integers(0, 2)),
                       Array(DType::F32, {1, 9, 1}, integers(0, 39, 1)), Array(DType::F64, {4})});
  });
}

} // namespace

void addLossCases(std::vector<Case> &cases) {
  addSoftmaxOutput(cases);
  addValidCount(cases);
  addCrossEntropy(cases);
  addMetrics(cases);
}

} // namespace lstmc::conformance
