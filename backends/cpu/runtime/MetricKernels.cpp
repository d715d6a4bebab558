// Metrics: sums in f64, in lanes per shard, then by the tree over the shards.
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

constexpr int kFields = int(kMetricFields);

struct Plus { // in this level's namespace, so that the tree's code is too
  double operator()(double a, double b) const { return a + b; }
};

/// The sums of terms(o, b, q, out) over rows begin to end of x [O, B, Q, ...]; element (o * rows +
/// row) * Q + q goes to lane e mod 16.
template <typename Terms>
void sumRows(const Tensor &x, int64_t begin, int64_t end, Terms &terms, double *sums) {
  double lanes[kFields][kPanel] = {};
  int64_t e = 0;
  for (int64_t o = 0; o < x.shape[0]; ++o)
    for (int64_t b = begin; b < end; ++b)
      for (int64_t q = 0; q < x.shape[2]; ++q, ++e) {
        double out[kFields];
        terms(o, b, q, out);
        for (int f = 0; f < kFields; ++f)
          lanes[f][e % kPanel] += out[f];
      }
  for (int f = 0; f < kFields; ++f)
    sums[f] = treeOfLanes(lanes[f]);
}

/// y [B, 6] = the sums of each row.
template <typename Terms>
void metricOfRows(const Tensor &x, const Tensor &y, Worker &worker, Terms &terms) {
  Share share(y.shape[0], worker.index, worker.count);
  for (int64_t row = share.begin; row < share.end; ++row) {
    double sums[kFields];
    sumRows(x, row, row + 1, terms, sums);
    for (int f = 0; f < kFields; ++f)
      y.as<double>()[row * y.strides[0] + f * y.strides[1]] = sums[f];
  }
}

/// y = the sums of the shards, added by the tree; or the sums of each row.
template <typename Terms>
void metric(const Tensor &x, const Tensor &y, const ShardRange &range, Worker &worker,
            Terms terms) {
  if (y.rank == 2)
    return metricOfRows(x, y, worker, terms);
  constexpr int64_t kShards = SharedSums::kPlaces / kFields;
  SharedSums sums(y.data, worker);
  TreeFold<double, Plus> folds[kFields];
  for (int64_t first = 0; first < range.count; first += kShards) {
    int64_t n = minimum(kShards, range.count - first);
    sums.make(n, [&](int64_t i, double *places) {
      sumRows(x, range.begin(first + i), range.begin(first + i + 1), terms, places + i * kFields);
    });
    for (int64_t i = 0; worker.index == 0 && i < n; ++i)
      for (int f = 0; f < kFields; ++f)
        if (range.begin(first + i) == range.begin(first + i + 1))
          folds[f].skip();
        else
          folds[f].add(sums[i * kFields + f]);
  }
  sums.finish();
  for (int f = 0; worker.index == 0 && f < kFields; ++f)
    y.as<double>()[f * y.strides[0]] = folds[f].finish();
}

void write(double *out, const double (&terms)[kFields]) {
  for (int f = 0; f < kFields; ++f)
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
         (row[truth] == loss.largest || loss.largest != loss.largest) &&
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

/// Metrics for labels that are classes.
struct ClassTerms {
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
    if (useIgnore && truth == ignored)
      return write(out, {0, weight, 0, 1, 0, 0});
    Row row{x.as<float>() + o * x.strides[0] + b * x.strides[1] + q * x.strides[2], x.strides[3]};
    RowLoss loss = rowLoss(row, classes, truth);
    int64_t kept = truth < 0 ? 0 : truth >= classes ? classes - 1 : truth;
    double minimised = double(loss.loss);
    if (alpha != 0)
      minimised = crossEntropy(row, loss, classes, [&](int64_t c) {
        return c == kept ? 1 - alpha : alpha / double(classes - 1);
      });
    write(out, {scale * minimised, weight, 1, 0, double(isFirstLargest(row, classes, loss, truth)),
                double(loss.loss)});
  }
};

/// Metrics for labels that are probabilities of classes.
struct ProbabilityTerms {
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
    write(out, {scale * minimised, 1, 1, 0, double(isFirstLargest(row, classes, loss, truth)),
                minimised});
  }
};

void softmaxMetric(const SoftmaxMetricLaunch &launch, Worker &worker) {
  if (launch.x.dtype != DType::F32)
    return reference::kernel(KernelId::SoftmaxMetric)(launch.wire, worker);
  if (launch.label.rank == 4)
    metric(launch.x, launch.y, launch.range, worker, ProbabilityTerms{launch});
  else
    metric(launch.x, launch.y, launch.range, worker, ClassTerms{launch});
}

void regressionMetric(const RegressionMetricLaunch &launch, Worker &worker) {
  const Tensor &x = launch.x, &label = launch.label, &y = launch.y;
  if (x.dtype != DType::F32)
    return reference::kernel(KernelId::RegressionMetric)(launch.wire, worker);
  ReadNumber number = readNumber(label.dtype);
  metric(x, y, launch.range, worker, [&](int64_t o, int64_t b, int64_t q, double *out) {
    double truth =
        number(label.data, o * label.strides[0] + b * label.strides[1] + q * label.strides[2]);
    regressionTerms(x.as<float>()[o * x.strides[0] + b * x.strides[1] + q * x.strides[2]], truth,
                    launch.loss, launch.scale, out);
  });
}

void lossMetric(const LossMetricLaunch &launch, Worker &worker) {
  const Tensor &x = launch.x, &y = launch.y;
  ReadNumber number = readNumber(x.dtype);
  metric(x, y, launch.range, worker, [&](int64_t o, int64_t b, int64_t q, double *out) {
    double value = number(x.data, o * x.strides[0] + b * x.strides[1] + q * x.strides[2]);
    bool counts = !launch.valid || value > launch.validThresh;
    write(out, {launch.scale * value, double(counts), 1, 0, 0, 0});
  });
}

} // namespace

void registerMetricKernels(KernelTable &table) {
  table.set<softmaxMetric>(KernelTable::Types::Any);
  table.set<regressionMetric>(KernelTable::Types::Any);
  table.set<lossMetric>(KernelTable::Types::Any);
}

} // namespace lstmc::cpu::LSTMC_CPU_NAMESPACE
