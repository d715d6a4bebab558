// Losses, the gradient of SoftmaxOutput, and metrics.
#include <algorithm>
#include <initializer_list>

#include "executor/reference/Groups.h"
#include "executor/reference/Lanes.h"
#include "executor/reference/View.h"

namespace lstmc::reference {

namespace {

/// Number of labels [A, D] that are not the ignored one.
int64_t validCount(const Tensor &label, int64_t ignored) {
  int64_t count = 0;
  for (int64_t a = 0; a < label.shape[0]; ++a)
    for (int64_t d = 0; d < label.shape[1]; ++d)
      count += indexAt(label, a, d) != ignored;
  return count;
}

template <typename Real> void softmaxOutputGradient(const SoftmaxOutputGradientLaunch &launch) {
  const View<Real> p(launch.p), dx(launch.dx);
  const Tensor &label = launch.label;
  const View<double> validInBatch(launch.valid);
  const bool useIgnore = launch.useIgnore, multi = launch.multi,
             valid = launch.normalization == SoftmaxNormalization::Valid;
  const int64_t ignored = convert<int64_t>(launch.ignoreLabel);
  const double gradScale = launch.gradScale;
  const Real alpha = Real(multi ? 0 : launch.smoothAlpha);
  const int64_t A = dx.extent(0), C = dx.extent(1), D = dx.extent(2);

  if (label.rank == 3) { // probabilities: only the scale is applied
    for (int64_t a = 0; a < A; ++a)
      for (int64_t c = 0; c < C; ++c)
        for (int64_t d = 0; d < D; ++d)
          dx(a, c, d) =
              (p(a, c, d) - readElement<Real>(label.data, label.dtype, offsetOf(label, a, c, d))) *
              Real(gradScale);
    return;
  }

  double count = 1;
  if (validInBatch)
    count = validInBatch(0);
  else if (launch.normalization == SoftmaxNormalization::Batch)
    count = double(multi ? A : A * D);
  else if (valid)
    count = double(validCount(label, ignored));
  if (count < 1)
    count = 1;
  const Real scale = Real(gradScale / double(multi && !valid ? D : 1) / count);
  for (int64_t a = 0; a < A; ++a)
    for (int64_t d = 0; d < D; ++d) {
      const int64_t truth = indexAt(label, a, d);
      for (int64_t c = 0; c < C; ++c) {
        Real g = p(a, c, d);
        if (useIgnore && truth == ignored)
          g = 0;
        else if (c == truth)
          g = ((g - 1) + alpha) * scale;
        else
          g = (alpha != 0 ? g - alpha / Real(C - 1) : g) * scale;
        dx(a, c, d) = g;
      }
    }
}

/// -log softmax(x)[label] in Real, with the label clipped to the valid range.
template <typename Real, typename X> Real rowLoss(int64_t classes, int64_t label, X x) {
  const SoftmaxRow<Real, X> row(classes, Real(1), x);
  return -row.logProbability(inside(label, classes, false));
}

template <typename Real> void softmaxCrossEntropy(const SoftmaxCrossEntropyLaunch &launch) {
  const View<Real> x(launch.x), y(launch.y);
  y(0) = Real(sumInLanes<double>(x.extent(0), [&](int64_t n, double lane) {
    return lane + double(rowLoss<Real>(x.extent(1), indexAt(launch.label, n),
                                       [&](int64_t c) { return x(n, c); }));
  }));
}

/// The fields of the longer record, summed side by side.
struct Measures {
  std::array<double, kEvaluationFields> fields{};

  Measures() = default;
  explicit Measures(double all) { fields.fill(all); }
  Measures(std::initializer_list<double> first) { std::ranges::copy(first, fields.begin()); }

  double &operator[](size_t field) { return fields[field]; }
  friend Measures operator+(Measures a, const Measures &b) {
    for (size_t field = 0; field < a.fields.size(); ++field)
      a.fields[field] += b.fields[field];
    return a;
  }
};

/// Whether a metric measures the longer record (abi/Kernels.h).
bool measuresAll(const Tensor &y) { return y.shape[y.rank - 1] == kEvaluationFields; }

/// y = sums of the fields of element(o, b, q) over x [O, B, Q, ...], as many fields as y has. In a
/// shard, element ((o * rows + row) * Q + q) is added to lane e mod 16, ascending from +0; then the
/// lanes are added by the tree, and the shards by the tree over shards. If y has rows, each row is
/// a shard and its sums are stored.
template <typename Element>
void metric(const ShardRange &range, const Tensor &x, const Tensor &y, Element element) {
  const int64_t O = x.shape[0], Q = x.shape[2];
  const View<double> sums(y);
  auto sumOfRows = [&](int64_t begin, int64_t end) {
    const int64_t rows = end - begin;
    return sumInLanes<Measures>(O * rows * Q, [&](int64_t e, const Measures &lane) {
      return lane + element(e / Q / rows, begin + e / Q % rows, e % Q);
    });
  };
  Measures all;
  if (y.rank == 1)
    all = sumOverShards<Measures>(range, sumOfRows);
  for (int64_t field = 0; y.rank == 1 && field < y.shape[0]; ++field)
    sums(field) = all[size_t(field)];
  for (int64_t row = 0; y.rank == 2 && row < y.shape[0]; ++row) {
    all = sumOfRows(row, row + 1);
    for (int64_t field = 0; field < y.shape[1]; ++field)
      sums(row, field) = all[size_t(field)];
  }
}

/// log(sum(exp(x))) - sum(q(c) * x(c)) in f64, each sum in 16 lanes. Where q is 0, x may be
/// anything.
template <typename Real, typename X, typename Q>
double crossEntropy(const SoftmaxRow<Real, X> &row, int64_t classes, Q q) {
  const double top = double(row.largest), logSum = double(scalar::logarithm(row.sum));
  const double inside = sumInLanes<double>(classes, [&](int64_t c, double lane) {
    return q(c) == 0 ? lane : lane + q(c) * (logSum - (double(row.x(c)) - top));
  });
  const double rest =
      1 - sumInLanes<double>(classes, [&](int64_t c, double lane) { return lane + q(c); });
  return rest == 0 ? inside : inside + rest * (logSum + top);
}

/// How many classes are likelier than `truth`: larger, or as large with a smaller index; a NaN is
/// larger than all numbers.
template <typename X> int64_t rankOf(int64_t classes, int64_t truth, X x) {
  int64_t before = 0;
  const bool nan = x(truth) != x(truth);
  for (int64_t c = 0; c < classes; ++c) {
    const bool equal = nan ? x(c) != x(c) : x(c) == x(truth);
    const bool larger = !nan && (x(c) > x(truth) || x(c) != x(c));
    before += larger || (equal && c < truth);
  }
  return before;
}

/// What the longer record has of a label: the second class against the first, and ranks.
template <typename X>
void addRanks(Measures &measures, int64_t classes, int64_t truth, int64_t likeliest, X x) {
  constexpr size_t kPositives = kMetricFields, kTops = kPositives + 3;
  if (classes == 2) {
    measures[kPositives] = double(truth == 1 && likeliest == 1);
    measures[kPositives + 1] = double(truth != 1 && likeliest == 1);
    measures[kPositives + 2] = double(truth == 1 && likeliest != 1);
  }
  if (truth < 0 || truth >= classes)
    return;
  const int64_t rank = rankOf(classes, truth, x);
  for (int64_t top = 2; top <= kTopClasses; ++top)
    measures[kTops + size_t(top) - 2] = double(rank < top);
}

template <typename Real> void softmaxMetric(const SoftmaxMetricLaunch &launch) {
  const Tensor &label = launch.label;
  const View<Real> x(launch.x);
  const bool all = measuresAll(launch.y);
  const int64_t classes = x.extent(3), ignored = convert<int64_t>(launch.ignoreLabel);
  const double alpha = launch.smoothAlpha, scale = launch.scale;
  metric(launch.range, launch.x, launch.y, [&](int64_t o, int64_t b, int64_t q) -> Measures {
    auto logit = [&](int64_t c) { return x(o, b, q, c); };
    const int64_t likeliest = firstMaximum(classes, logit);
    const SoftmaxRow<Real, decltype(logit)> row(classes, Real(1), logit);
    if (label.rank == 4) {
      auto probability = [&](int64_t c) {
        return readElement<double>(label.data, label.dtype, offsetOf(label, o, b, q, c));
      };
      const double loss = crossEntropy(row, classes, probability);
      const int64_t truth = firstMaximum(classes, probability);
      Measures measures{scale * loss, 1, 1, 0, double(truth == likeliest), loss};
      if (all)
        addRanks(measures, classes, truth, likeliest, logit);
      return measures;
    }
    const int64_t truth = indexAt(label, o, b, q);
    const double weight = double(!launch.valid || truth != ignored);
    if (launch.useIgnore && truth == ignored)
      return {0, weight, 0, 1, 0, 0};
    const double loss = double(rowLoss<Real>(classes, truth, logit));
    auto smoothed = [&](int64_t c) {
      return c == inside(truth, classes, false) ? 1 - alpha : alpha / double(classes - 1);
    };
    Measures measures{scale * (alpha == 0 ? loss : crossEntropy(row, classes, smoothed)),
                      weight,
                      1,
                      0,
                      double(likeliest == truth),
                      loss};
    if (all)
      addRanks(measures, classes, truth, likeliest, logit);
    return measures;
  });
}

template <typename Real> void regressionMetric(const RegressionMetricLaunch &launch) {
  const View<Real> x(launch.x);
  const Tensor &label = launch.label;
  const RegressionLoss kind = launch.loss;
  const double scale = launch.scale;
  metric(launch.range, launch.x, launch.y, [&](int64_t o, int64_t b, int64_t q) -> Measures {
    const Real value = x(o, b, q);
    const double truth = readElement<double>(label.data, label.dtype, offsetOf(label, o, b, q));
    const double output = kind == RegressionLoss::Logistic ? scalar::sigmoid(value) : value;
    const double difference = output - truth, square = difference * difference;
    const double loss = kind == RegressionLoss::Logistic
                            ? functionInF64(ScalarOp::SoftRelu, value) - double(value) * truth
                        : kind == RegressionLoss::Absolute ? std::fabs(difference)
                                                           : 0.5 * square;
    // The shorter record ends before the agreement at one half.
    return {scale * loss,
            1,
            1,
            std::fabs(difference),
            square,
            0,
            double((output > 0.5) == (truth > 0.5)),
            output,
            truth,
            output * output,
            truth * truth,
            output * truth};
  });
}

template <typename Real> void lossMetric(const LossMetricLaunch &launch) {
  const View<Real> x(launch.x);
  metric(launch.range, launch.x, launch.y, [&](int64_t o, int64_t b, int64_t q) -> Measures {
    const double value = double(x(o, b, q));
    const bool counts = !launch.valid || value > launch.validThresh;
    return {launch.scale * value, double(counts), 1, 0, 0, 0};
  });
}

} // namespace

void runSoftmaxOutputGradient(const SoftmaxOutputGradientLaunch &launch) {
  withFloat(launch.p, [&](auto real) { softmaxOutputGradient<decltype(real)>(launch); });
}

void runValidCount(const ValidCountLaunch &launch) {
  const View<double> y(launch.y);
  y(0) = double(validCount(launch.label, convert<int64_t>(launch.ignoreLabel)));
}

void runSoftmaxCrossEntropy(const SoftmaxCrossEntropyLaunch &launch) {
  withFloat(launch.x, [&](auto real) { softmaxCrossEntropy<decltype(real)>(launch); });
}

void runSoftmaxMetric(const SoftmaxMetricLaunch &launch) {
  withFloat(launch.x, [&](auto real) { softmaxMetric<decltype(real)>(launch); });
}

void runRegressionMetric(const RegressionMetricLaunch &launch) {
  withFloat(launch.x, [&](auto real) { regressionMetric<decltype(real)>(launch); });
}

void runLossMetric(const LossMetricLaunch &launch) {
  withFloat(launch.x, [&](auto real) { lossMetric<decltype(real)>(launch); });
}

} // namespace lstmc::reference
