// Metrics: sums in f64, in lanes per shard, then by the tree over the shards.
#include <new>

#include "backends/cpu/runtime/KernelTable.h"
#include "backends/cpu/runtime/Lanes64.h"
#include "backends/cpu/runtime/RegressionTerms.h"
#include "backends/cpu/runtime/SharedSums.h"
#include "backends/cpu/runtime/SoftmaxRow.h"
#include "backends/cpu/runtime/TileCopy.h"
#include "executor/abi/Packing.h"
#include "executor/base/Tree.h"
#include "executor/reference/Reference.h"

namespace lstmc::cpu::LSTMC_CPU_NAMESPACE {

namespace {

struct Plus { // in this level's namespace, so that the tree's code is too
  double operator()(double a, double b) const { return a + b; }
};

constexpr int kShort = int(kMetricFields), kLong = int(kEvaluationFields);

/// How many fields a launch asks for: kShort or kLong.
int64_t fieldsOf(const Tensor &y) { return y.shape[y.rank - 1]; }

/// The sums of terms(o, b, q, out) over rows begin to end of x [O, B, Q, ...]; element e = (o *
/// rows
/// + row) * Q + q goes to lane e mod 16.
template <int kFields, typename Terms> struct SumsOfTerms {
  const Tensor &x;
  Terms terms;

  void operator()(int64_t begin, int64_t end, double *sums) const {
    double lanes[kFields][kPanel] = {};
    int64_t e = 0;
    for (int64_t o = 0; o < x.shape[0]; ++o)
      for (int64_t b = begin; b < end; ++b)
        for (int64_t q = 0; q < x.shape[2] && !stopAsked(); ++q, ++e) {
          double out[kFields];
          terms(o, b, q, out);
          for (int f = 0; f < kFields; ++f)
            lanes[f][e % kPanel] += out[f];
        }
    for (int f = 0; f < kFields; ++f)
      sums[f] = treeOfLanes(lanes[f]);
  }
};

/// y [B, F] = the sums of each row; 0 in the fields beyond kFields.
template <int kFields, typename Sums>
void metricOfRows(const Tensor &y, Worker &worker, const Sums &sumRows) {
  Share share(y.shape[0], worker.index, worker.count);
  for (int64_t row = share.begin; row < share.end && !stopAsked(); ++row) {
    double sums[kLong] = {};
    sumRows(row, row + 1, sums);
    for (int64_t f = 0; f < fieldsOf(y); ++f)
      y.as<double>()[row * y.strides[0] + f * y.strides[1]] = sums[f];
  }
}

/// y = the sums of the shards, added by the tree; or the sums of each row. `sumRows(begin, end,
/// sums)` gives kFields sums over some rows; the other fields of y are 0.
template <int kFields, typename Sums>
void metric(const Tensor &y, const ShardRange &range, Worker &worker, const Sums &sumRows) {
  if (y.rank == 2)
    return metricOfRows<kFields>(y, worker, sumRows);
  constexpr int64_t kShards = SharedSums::kPlaces / kFields;
  SharedSums sums(y.data, worker);
  using Fold = TreeFold<double, Plus>;
  static_assert(SharedSums::kBytes + kFields * sizeof(Fold) <= kWorkerBytes);
  auto *folds = reinterpret_cast<Fold *>(workerMemory + SharedSums::kBytes);
  for (int f = 0; f < kFields; ++f)
    new (folds + f) Fold;
  for (int64_t first = 0; first < range.count; first += kShards) {
    int64_t n = minimum(kShards, range.count - first);
    sums.make(n, [&](int64_t i, double *places) {
      sumRows(range.begin(first + i), range.begin(first + i + 1), places + i * kFields);
    });
    for (int64_t i = 0; worker.index == 0 && i < n; ++i)
      for (int f = 0; f < kFields; ++f)
        if (range.begin(first + i) == range.begin(first + i + 1))
          folds[f].skip();
        else
          folds[f].add(sums[i * kFields + f]);
  }
  sums.finish();
  for (int f = 0; worker.index == 0 && f < fieldsOf(y); ++f)
    y.as<double>()[f * y.strides[0]] = f < kFields ? folds[f].finish() : 0;
}

/// The same for `terms` that give kFields numbers for each element of x.
template <int kFields, typename Terms>
void metricOfTerms(const Tensor &x, const Tensor &y, const ShardRange &range, Worker &worker,
                   Terms terms) {
  metric<kFields>(y, range, worker, SumsOfTerms<kFields, Terms>{x, terms});
}

void write(double *out, const double (&terms)[kShort]) {
  for (int f = 0; f < kShort; ++f)
    out[f] = terms[f];
}

/// log(sum(exp(x))) - sum(q(c) * x(c)), added in the order of the reference.
template <typename Q> double crossEntropy(const Row &x, const RowLoss &row, int64_t classes, Q q) {
  double cross[kPanel] = {}, all[kPanel] = {};
  const double top = double(row.largest), logSum = double(row.logSum);
  for (int64_t c = 0; c < classes; ++c) {
    double share = q(c);
    if (share != 0)
      cross[c % kPanel] += share * (logSum - (double(x[c]) - top));
    all[c % kPanel] += share;
  }
  double inside = treeOfLanes(cross), rest = 1 - treeOfLanes(all);
  return rest == 0 ? inside : inside + rest * (logSum + top);
}

/// Whether `truth` is the index of the first of the largest elements; NaN counts as larger than
/// all.
bool isFirstLargest(const Row &row, int64_t classes, const RowLoss &loss, int64_t truth) {
  return truth >= 0 && truth < classes &&
         (row[truth] == loss.largest || row[truth] != row[truth]) &&
         firstOf(row, truth + 1, loss.largest) == truth;
}

/// The index of the first of the largest probabilities; NaN counts as larger than all.
template <typename Q> int64_t likeliest(int64_t classes, Q q) {
  int64_t best = 0;
  for (int64_t c = 1; c < classes; ++c)
    if (q(best) == q(best) && (q(c) > q(best) || q(c) != q(c)))
      best = c;
  return best;
}

/// Number of classes that are likelier than `truth`: larger, or equal with a smaller index; NaN
/// counts as larger than all numbers. Counting may stop at kTopClasses.
template <int64_t kStep> int64_t rankOf(const Row &x, int64_t classes, int64_t truth) {
  constexpr int64_t kStretch = 1024;
  const int64_t step = kStep == 0 ? x.step : kStep;
  const float *data = x.data, value = data[truth * step];
  int64_t before = 0;
  for (int64_t begin = 0; begin < classes && before < kTopClasses; begin += kStretch) {
    const int64_t end = minimum(begin + kStretch, classes), middle = minimum(end, truth);
    int32_t count = 0;
    if (value != value) {
      for (int64_t c = begin; c < middle; ++c)
        count += data[c * step] != data[c * step];
    } else {
      for (int64_t c = begin; c < middle; ++c)
        count += !(data[c * step] < value);
      for (int64_t c = begin > truth ? begin : truth + 1; c < end; ++c)
        count += !(data[c * step] <= value);
    }
    before += count;
  }
  return before;
}

/// The fields of a label that only the longer record has: the second class against the first, and
/// ranks. `hit`: whether `truth` is the likeliest class.
void writeRanks(double *out, const Row &row, int64_t classes, const RowLoss &loss, int64_t truth,
                bool hit) {
  constexpr int kPositives = kShort, kTops = kPositives + 3;
  const bool positive = truth == 1, said = classes == 2 && isFirstLargest(row, classes, loss, 1);
  out[kPositives] = double(positive && said);
  out[kPositives + 1] = double(!positive && said);
  out[kPositives + 2] = double(classes == 2 && positive && !said);
  int64_t rank = kTopClasses;
  if (truth >= 0 && truth < classes)
    rank = hit             ? 0
           : row.step == 1 ? rankOf<1>(row, classes, truth)
                           : rankOf<0>(row, classes, truth);
  for (int64_t top = 2; top <= kTopClasses; ++top)
    out[kTops + top - 2] = double(rank < top);
}

/// Metrics for labels that are classes.
template <int kFields> struct ClassTerms {
  const SoftmaxMetricLaunch &launch;
  const Tensor &x = launch.x, &label = launch.label;
  int64_t classes = x.shape[3], ignored = toIndex(launch.ignoreLabel);
  bool useIgnore = launch.useIgnore, valid = launch.valid;
  double alpha = launch.smoothAlpha, scale = launch.scale;
  ReadIndex index = readIndex(label.dtype);

  void operator()(int64_t o, int64_t b, int64_t q, double *out) const {
    int64_t truth =
        index(label.data, o * label.strides[0] + b * label.strides[1] + q * label.strides[2]);
    double weight = double(!valid || truth != ignored);
    if (useIgnore && truth == ignored) {
      for (int f = kShort; f < kFields; ++f)
        out[f] = 0;
      return write(out, {0, weight, 0, 1, 0, 0});
    }
    Row row{x.as<float>() + o * x.strides[0] + b * x.strides[1] + q * x.strides[2], x.strides[3]};
    RowLoss loss = rowLoss(row, classes, truth);
    int64_t kept = truth < 0 ? 0 : truth >= classes ? classes - 1 : truth;
    double minimised = double(loss.loss);
    if (alpha != 0)
      minimised = crossEntropy(row, loss, classes, [&](int64_t c) {
        return c == kept ? 1 - alpha : alpha / double(classes - 1);
      });
    bool hit = isFirstLargest(row, classes, loss, truth);
    write(out, {scale * minimised, weight, 1, 0, double(hit), double(loss.loss)});
    if constexpr (kFields == kLong)
      writeRanks(out, row, classes, loss, truth, hit);
  }
};

/// Metrics for labels that are probabilities of classes.
template <int kFields> struct ProbabilityTerms {
  const SoftmaxMetricLaunch &launch;
  const Tensor &x = launch.x, &label = launch.label;
  int64_t classes = x.shape[3];
  double scale = launch.scale;
  ReadNumber number = readNumber(label.dtype);

  void operator()(int64_t o, int64_t b, int64_t q, double *out) const {
    int64_t first = o * label.strides[0] + b * label.strides[1] + q * label.strides[2];
    auto probability = [&](int64_t c) { return number(label.data, first + c * label.strides[3]); };
    Row row{x.as<float>() + o * x.strides[0] + b * x.strides[1] + q * x.strides[2], x.strides[3]};
    int64_t truth = likeliest(classes, probability);
    RowLoss loss = rowLoss(row, classes, truth);
    double minimised = crossEntropy(row, loss, classes, probability);
    bool hit = isFirstLargest(row, classes, loss, truth);
    write(out, {scale * minimised, 1, 1, 0, double(hit), minimised});
    if constexpr (kFields == kLong)
      writeRanks(out, row, classes, loss, truth, hit);
  }
};

template <int kFields> void softmaxMetricOf(const SoftmaxMetricLaunch &launch, Worker &worker) {
  if (launch.label.rank == 4)
    metricOfTerms<kFields>(launch.x, launch.y, launch.range, worker,
                           ProbabilityTerms<kFields>{launch});
  else
    metricOfTerms<kFields>(launch.x, launch.y, launch.range, worker, ClassTerms<kFields>{launch});
}

void softmaxMetric(const SoftmaxMetricLaunch &launch, Worker &worker) {
  if (launch.x.dtype != DType::F32)
    return reference::kernel(KernelId::SoftmaxMetric)(launch.wire, worker);
  if (fieldsOf(launch.y) == kLong)
    softmaxMetricOf<kLong>(launch, worker);
  else
    softmaxMetricOf<kShort>(launch, worker);
}

template <int kFields>
void regressionMetricOf(const RegressionMetricLaunch &launch, Worker &worker) {
  const Tensor &x = launch.x, &label = launch.label;
  ReadNumber number = readNumber(label.dtype);
  metricOfTerms<kFields>(
      x, launch.y, launch.range, worker, [&](int64_t o, int64_t b, int64_t q, double *out) {
        double truth =
            number(label.data, o * label.strides[0] + b * label.strides[1] + q * label.strides[2]);
        regressionTerms(x.as<float>()[o * x.strides[0] + b * x.strides[1] + q * x.strides[2]],
                        truth, launch.loss, launch.scale, kFields == kRegressionFields, out);
      });
}

void regressionMetric(const RegressionMetricLaunch &launch, Worker &worker) {
  if (launch.x.dtype != DType::F32)
    return reference::kernel(KernelId::RegressionMetric)(launch.wire, worker);
  if (fieldsOf(launch.y) == kLong)
    regressionMetricOf<kRegressionFields>(launch, worker);
  else
    regressionMetricOf<kShort>(launch, worker);
}

/// Metrics for a loss that is given; `number(i)` is the element of x at i. Only two of its fields
/// are sums of more than ones: the others are written once.
template <typename Number> struct LossSums {
  const LossMetricLaunch &launch;
  Number number;

  void operator()(int64_t begin, int64_t end, double *sums) const {
    const Tensor &x = launch.x;
    const int64_t steps = x.shape[0], inner = x.shape[2], stride = x.strides[2];
    const double scale = launch.scale, least = launch.validThresh;
    const bool all = !launch.valid;
    double values[kPanel] = {}, counts[kPanel] = {};
    int64_t e = 0;
    for (int64_t o = 0; o < steps; ++o)
      for (int64_t b = begin; b < end && !stopAsked(); ++b) {
        const int64_t first = o * x.strides[0] + b * x.strides[1];
        int64_t q = 0;
        if (e % kPanel == 0 && stride == 1)
          for (; q + kPanel <= inner; q += kPanel, e += kPanel)
            for (int64_t lane = 0; lane < kPanel; ++lane) {
              const double value = number(first + q + lane);
              values[lane] += scale * value;
              counts[lane] += double(all || value > least);
            }
        for (; q < inner; ++q, ++e) {
          const double value = number(first + q * stride);
          values[e % kPanel] += scale * value;
          counts[e % kPanel] += double(all || value > least);
        }
      }
    const double fields[kShort] = {treeOfLanes(values), treeOfLanes(counts), double(e)};
    write(sums, fields);
  }
};

void lossMetric(const LossMetricLaunch &launch, Worker &worker) {
  const Tensor &x = launch.x;
  auto measure = [&](auto number) {
    metric<kShort>(launch.y, launch.range, worker, LossSums<decltype(number)>{launch, number});
  };
  if (x.dtype == DType::F32)
    measure([data = x.as<float>()](int64_t i) { return double(data[i]); });
  else
    measure([data = x.data, number = readNumber(x.dtype)](int64_t i) { return number(data, i); });
}

} // namespace

void registerMetricKernels(KernelTable &table) {
  table.set<softmaxMetric>(KernelTable::Types::Any);
  table.set<regressionMetric>(KernelTable::Types::Any);
  table.set<lossMetric>(KernelTable::Types::Any);
}

} // namespace lstmc::cpu::LSTMC_CPU_NAMESPACE
