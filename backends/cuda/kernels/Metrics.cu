// Metrics. A block has 16 warps: element e of a shard belongs to warp e mod 16, whose threads
// measure it together; the fields are then added by the tree of lanes, and the shards by theirs.
#include "backends/cuda/kernels/Losses.h"
#include "backends/cuda/kernels/Rows.h"

namespace lstmc::gpu {

namespace {

/// The fields of the longer record.
struct Measures {
  double fields[kEvaluationFields] = {};
};

/// The sums of the elements of rows [begin, end) of x [O, B, Q, ...], field f by thread f of the
/// block; others get 0. All threads of the block call it.
template <typename Element>
LSTMC_DEVICE Double sumOfRows(const Operand &x, int64_t fields, int64_t begin, int64_t end,
                              Element element) {
  const Shared<double> lanes = shared<double>(0, int(kLanes * fields));
  const int64_t inner = x.shape[2], rows = end - begin, count = x.shape[0] * rows * inner;
  Measures sums;
  for (int64_t e = warpIndex(); e < count; e += kLanes) {
    const Measures measured = element(e / inner / rows, begin + e / inner % rows, e % inner);
    for (int64_t f = 0; f < fields; ++f)
      sums.fields[f] = (Double{sums.fields[f]} + Double{measured.fields[f]}).v;
  }
  if (laneIndex() == 0)
    for (int64_t f = 0; f < fields; ++f)
      lanes.store(int(warpIndex() * fields + f), sums.fields[f]);
  syncThreads();
  Double sum = {0};
  if (threadIndex() < fields) {
    Double leaves[kLanes];
    for (int lane = 0; lane < kLanes; ++lane)
      leaves[lane] = {lanes.load(int(lane * fields) + threadIndex())};
    for (int width = 1; width < kLanes; width *= 2)
      for (int lane = 0; lane < kLanes; lane += 2 * width)
        leaves[lane] = leaves[lane] + leaves[lane + width];
    sum = leaves[0];
  }
  syncThreads();
  return sum;
}

/// y = sums over shards, or, if y has rows, over each row.
template <typename Element>
LSTMC_DEVICE void metric(const ShardRange &range, const Operand &x, const Operand &y,
                         Element element) {
  const int64_t fields = y.shape[y.rank - 1];
  if (y.rank == 2) {
    const int64_t row = blockIndex();
    const Double sum = sumOfRows(x, fields, row, row + 1, element);
    if (threadIndex() < fields)
      storeAs(y, at(y, row, threadIndex()), sum);
    return;
  }
  const Double sum = sumOverShards<Double>(
      range, [&](int64_t begin, int64_t end) { return sumOfRows(x, fields, begin, end, element); });
  if (threadIndex() < fields)
    storeAs(y, at(y, threadIndex()), sum);
}

/// log(sum(exp(x))) - sum(q(c) * x(c)) in f64. Where q is 0, x may be anything.
template <typename V, typename X, typename Q>
LSTMC_DEVICE double crossEntropy(const SoftmaxRow<V, X> &row, int64_t classes, Q q) {
  const Double top = {converted<double>(row.largest.v)};
  const Double logSum = {converted<double>(logarithm(row.sum).v)};
  const Double inside = sumInLanes<Double>(classes, [&](Double lane, int64_t c) {
    const Double x = {converted<double>(row.x(c).v)};
    return q(c) == Double{0} ? lane : lane + q(c) * (logSum - (x - top));
  });
  const Double all =
      sumInLanes<Double>(classes, [&](Double lane, int64_t c) { return lane + q(c); });
  const Double rest = Double{1} - all;
  return (rest == Double{0} ? inside : inside + rest * (logSum + top)).v;
}

/// How many classes are likelier than `truth`: larger, or as large with a smaller index; a NaN is
/// larger than all numbers.
template <typename X> LSTMC_DEVICE int64_t rankOf(int64_t classes, int64_t truth, X x) {
  const auto own = x(truth);
  int64_t before = 0;
  for (int64_t c = laneIndex(); c < classes; c += kWarp) {
    const auto other = x(c);
    const bool equal = isNan(own) ? isNan(other) : bool(other == own);
    const bool larger = !isNan(own) && (own < other || isNan(other));
    before += larger || (equal && c < truth);
  }
  for (int width = 1; width < kWarp; width *= 2)
    before += shuffleXor(before, width);
  return before;
}

/// What the longer record has of a label: the second class against the first, and ranks.
template <typename X>
LSTMC_DEVICE void addRanks(Measures &measures, int64_t classes, int64_t truth, int64_t likeliest,
                           X x) {
  constexpr int64_t kPositives = kMetricFields, kTops = kPositives + 3;
  if (classes == 2) {
    measures.fields[kPositives] = double(truth == 1 && likeliest == 1);
    measures.fields[kPositives + 1] = double(truth != 1 && likeliest == 1);
    measures.fields[kPositives + 2] = double(truth == 1 && likeliest != 1);
  }
  if (truth < 0 || truth >= classes)
    return;
  const int64_t rank = rankOf(classes, truth, x);
  for (int64_t top = 2; top <= kTopClasses; ++top)
    measures.fields[kTops + top - 2] = double(rank < top);
}

LSTMC_DEVICE double scaled(double scale, double loss) { return (Double{scale} * Double{loss}).v; }

LSTMC_DEVICE int64_t at4(const Operand &x, int64_t o, int64_t b, int64_t q, int64_t c) {
  return at(x, o, b, q) + c * x.strides[3];
}

template <typename V>
LSTMC_DEVICE Measures measureSoftmax(const SoftmaxMetricArguments &a, int64_t o, int64_t b,
                                     int64_t q) {
  const int64_t classes = a.x.shape[3];
  const bool all = a.y.shape[a.y.rank - 1] == kEvaluationFields;
  auto logit = [&](int64_t c) { return loadAs<V>(a.x, at4(a.x, o, b, q, c)); };
  auto probability = [&](int64_t c) {
    return Double{elementAs<double>(a.label, at4(a.label, o, b, q, c))};
  };
  Measures measures;
  double *f = measures.fields;
  int64_t truth = 0;
  const bool labels = a.label.rank == 3;
  if (labels) {
    truth = indexAt(a.label, at(a.label, o, b, q));
    f[1] = double(!a.valid || truth != a.ignored);
    if (a.useIgnore && truth == a.ignored) {
      f[3] = 1;
      return measures;
    }
  }
  const int64_t likeliest = firstMaximumOf<double>(
      classes, [&](int64_t c) { return converted<double>(flushed(logit(c)).v); });
  const SoftmaxRow row(classes, V{1}, logit);
  if (labels) {
    const int64_t label = inside(truth, classes, false);
    f[5] = converted<double>((-row.logProbability(label)).v);
    const Double alpha = {a.smoothAlpha};
    const double loss = alpha == Double{0} ? f[5] : crossEntropy(row, classes, [&](int64_t c) {
      return c == label ? Double{1} - alpha : alpha / Double{double(classes - 1)};
    });
    f[0] = scaled(a.scale, loss);
  } else {
    f[5] = crossEntropy(row, classes, probability);
    truth = firstMaximumOf<double>(classes, [&](int64_t c) { return flushed(probability(c)).v; });
    f[0] = scaled(a.scale, f[5]);
    f[1] = 1;
  }
  f[2] = 1;
  f[4] = double(likeliest == truth);
  if (all)
    addRanks(measures, classes, truth, likeliest, logit);
  return measures;
}

LSTMC_DEVICE Measures measureRegression(const RegressionMetricArguments &a, int64_t o, int64_t b,
                                        int64_t q) {
  const bool logistic = a.loss == RegressionLoss::Logistic, wide = DType(a.x.dtype) == DType::F64;
  const int64_t place = at(a.x, o, b, q);
  const Double value = {elementAs<double>(a.x, place)};
  const Double output = !logistic ? value
                        : wide    ? sigmoid(value)
                                  : Double{sigmoidOf(elementAs<float>(a.x, place))};
  const Double truth = {elementAs<double>(a.label, at(a.label, o, b, q))};
  const Double difference = output - truth, square = difference * difference;
  const Double loss =
      logistic ? Double{flushed(Double{real::softRelu(flushed(value).v)})} - value * truth
      : a.loss == RegressionLoss::Absolute ? abs(difference)
                                           : Double{0.5} * square;
  const Double half = {0.5};
  return {{scaled(a.scale, loss.v), 1, 1, abs(difference).v, square.v, 0,
           double((half < output) == (half < truth)), output.v, truth.v, (output * output).v,
           (truth * truth).v, (output * truth).v}};
}

LSTMC_DEVICE Measures measureLoss(const LossMetricArguments &a, int64_t o, int64_t b, int64_t q) {
  const double value = elementAs<double>(a.x, at(a.x, o, b, q));
  const bool counts = !a.valid || Double{a.validThresh} < Double{value};
  return {{scaled(a.scale, value), double(counts), 1}};
}

} // namespace

LSTMC_GPU_KERNEL(lstmc_softmax_metric_f32, SoftmaxMetricArguments, a) {
  metric(a.range, a.x, a.y,
         [&](int64_t o, int64_t b, int64_t q) { return measureSoftmax<Float>(a, o, b, q); });
}
LSTMC_GPU_KERNEL(lstmc_softmax_metric_f64, SoftmaxMetricArguments, a) {
  metric(a.range, a.x, a.y,
         [&](int64_t o, int64_t b, int64_t q) { return measureSoftmax<Double>(a, o, b, q); });
}
LSTMC_GPU_KERNEL(lstmc_regression_metric, RegressionMetricArguments, a) {
  metric(a.range, a.x, a.y,
         [&](int64_t o, int64_t b, int64_t q) { return measureRegression(a, o, b, q); });
}
LSTMC_GPU_KERNEL(lstmc_loss_metric, LossMetricArguments, a) {
  metric(a.range, a.x, a.y,
         [&](int64_t o, int64_t b, int64_t q) { return measureLoss(a, o, b, q); });
}

} // namespace lstmc::gpu
