// The kernel softmax, its gradient, and losses that use it, over rows of f32.
#include "backends/cpu/runtime/KernelTable.h"
#include "backends/cpu/runtime/Lanes64.h"
#include "backends/cpu/runtime/SoftmaxRow.h"
#include "backends/cpu/runtime/StridedWalk.h"
#include "backends/cpu/runtime/TileCopy.h"
#include "executor/reference/Reference.h"

namespace lstmc::cpu::LSTMC_CPU_NAMESPACE {

namespace {

/// Number of elements of row r that are used.
int64_t countOf(const Tensor &length, int64_t r, int64_t columns) {
  if (!length)
    return columns;
  int64_t count = readIndex(length.dtype)(length.data, r * length.strides[0]);
  return count < 0 ? 0 : minimum(count, columns);
}

void softmax(const SoftmaxLaunch &launch, Worker &worker) {
  const Tensor &x = launch.x, &length = launch.length, &y = launch.y;
  bool log = launch.log;
  auto temperature = float(launch.temperature);
  int64_t columns = y.shape[1];
  Share share(y.shape[0], worker.index, worker.count);
  for (int64_t r = share.begin; r < share.end && !stopAsked(); ++r) {
    int64_t count = countOf(length, r, columns);
    Row from = rowOf(x, r), to = rowOf(y, r);
    Scaled scaled(from, count, temperature);
    if (log) {
      float sum = sumInLanes(
          count, [&](int64_t e, Vector lane) { return lane + exponential(scaled(e, count)); });
      Vector logSum = logarithm(Vector::broadcast(sum));
      for (int64_t e = 0; e < count; e += kWidth)
        to.store(e, count, scaled(e, count) - logSum);
    } else {
      float sum = sumInLanes(count, [&](int64_t e, Vector lane) {
        Vector p = exponential(scaled(e, count));
        to.store(e, count, p);
        return lane + p;
      });
      Vector all = Vector::broadcast(sum);
      for (int64_t e = 0; e < count; e += kWidth)
        to.store(e, count, to.load(e, count) / all);
    }
    for (int64_t e = count; e < columns; e += kWidth)
      to.store(e, columns, Vector::zero());
  }
}

void softmaxGradient(const SoftmaxGradientLaunch &launch, Worker &worker) {
  const Tensor &y = launch.y, &dy = launch.dy, &length = launch.length;
  const Tensor &dx = launch.dx;
  bool log = launch.log;
  Vector temperature = Vector::broadcast(float(launch.temperature));
  int64_t columns = dx.shape[1];
  Share share(dx.shape[0], worker.index, worker.count);
  for (int64_t r = share.begin; r < share.end && !stopAsked(); ++r) {
    int64_t count = countOf(length, r, columns);
    Row p = rowOf(y, r), dp = rowOf(dy, r), to = rowOf(dx, r);
    Vector sum = Vector::broadcast(sumInLanes(count, [&](int64_t e, Vector lane) {
      Vector d = dp.load(e, count);
      return log ? lane + d : fma(d, p.load(e, count), lane);
    }));
    for (int64_t e = 0; e < count; e += kWidth) {
      Vector d = dp.load(e, count), v = p.load(e, count);
      Vector g = log ? d - exponential(v) * sum : v * (d - sum);
      to.store(e, count, g / temperature);
    }
    for (int64_t e = count; e < columns; e += kWidth)
      to.store(e, columns, Vector::zero());
  }
}

/// The part of softmax_output_gradient for one label: turns p into the gradient.
struct OutputGradient {
  float alpha, others, scale;
  LSTMC_INLINE Vector other(Vector p) const {
    Vector g = alpha != 0 ? p - Vector::broadcast(others) : p;
    return g * Vector::broadcast(scale);
  }
  float truth(float p) const { return ((p - 1) + alpha) * scale; }
};

/// The classes of one position, in a row [C].
void outputGradientRow(const OutputGradient &gradient, Row p, Row dx, int64_t classes,
                       int64_t label, bool ignored) {
  if (ignored) {
    for (int64_t e = 0; e < classes; e += kWidth)
      dx.store(e, classes, Vector::zero());
    return;
  }
  bool known = label >= 0 && label < classes;
  float truth = known ? gradient.truth(p[label]) : 0; // read before dx, which may be p, is written
  for (int64_t e = 0; e < classes; e += kWidth)
    dx.store(e, classes, gradient.other(p.load(e, classes)));
  if (known)
    dx.data[label * dx.step] = truth;
}

/// Number of labels [A, D] that are not the ignored one.
int64_t countValid(const Tensor &label, int64_t ignored) {
  ReadIndex index = readIndex(label.dtype);
  int64_t count = 0;
  for (int64_t a = 0; a < label.shape[0] && !stopAsked(); ++a)
    for (int64_t d = 0; d < label.shape[1]; ++d)
      count += index(label.data, a * label.strides[0] + d * label.strides[1]) != ignored;
  return count;
}

/// The result is one number, so one worker computes it.
void validCount(const ValidCountLaunch &launch, Worker &worker) {
  if (worker.index == 0)
    *launch.y.as<double>() = double(countValid(launch.label, toIndex(launch.ignoreLabel)));
}

/// For labels that are probabilities: dx = (p - label) * scale.
void outputGradientOfShares(const SoftmaxOutputGradientLaunch &launch, Worker &worker) {
  const Tensor &p = launch.p, &label = launch.label, &dx = launch.dx;
  const int64_t classes = dx.shape[1], width = dx.shape[2];
  const Vector scale = Vector::broadcast(float(launch.gradScale));
  // Inner loops run over classes or positions, whichever are more.
  const bool down = width == 1;
  const int64_t length = down ? classes : width, rows = down ? width : classes;
  const size_t along = down ? 1 : 2, across = down ? 2 : 1;
  auto row = [&](const Tensor &t, int64_t a, int64_t i) {
    return Row{t.as<float>() + a * t.strides[0] + i * t.strides[across], t.strides[along]};
  };
  Share share(dx.shape[0], worker.index, worker.count);
  for (int64_t a = share.begin; a < share.end; ++a)
    for (int64_t i = 0; i < rows && !stopAsked(); ++i) {
      Row from = row(p, a, i), truth = row(label, a, i), to = row(dx, a, i);
      for (int64_t e = 0; e < length; e += kWidth)
        to.store(e, length, (from.load(e, length) - truth.load(e, length)) * scale);
    }
}

OutputGradient outputGradientOf(const SoftmaxOutputGradientLaunch &launch, int64_t ignored) {
  const int64_t outer = launch.dx.shape[0], classes = launch.dx.shape[1];
  const int64_t width = launch.dx.shape[2];
  const bool multi = launch.multi, valid = launch.normalization == SoftmaxNormalization::Valid;
  double count = 1;
  if (launch.valid)
    count = *launch.valid.as<double>();
  else if (launch.normalization == SoftmaxNormalization::Batch)
    count = double(multi ? outer : outer * width);
  else if (valid)
    count = double(countValid(launch.label, ignored));
  if (count < 1)
    count = 1;
  OutputGradient gradient;
  gradient.alpha = multi ? 0.0f : float(launch.smoothAlpha);
  gradient.others = gradient.alpha / float(classes - 1);
  gradient.scale = float(launch.gradScale / double(multi && !valid ? width : 1) / count);
  return gradient;
}

constexpr int64_t kPositions = 64;

/// Positions begin to begin + n <= kPositions of slice a, with all their classes row by row.
/// `truths` are their labels; a position whose label is `*ignored` gets 0.
void outputGradientColumns(const OutputGradient &gradient, const Tensor &p, const Tensor &dx,
                           int64_t a, int64_t begin, int64_t n, const int64_t *truths,
                           const int64_t *ignored) {
  const int64_t classes = dx.shape[1];
  const float *from = p.as<float>() + a * p.strides[0] + begin * p.strides[2];
  float *to = dx.as<float>() + a * dx.strides[0] + begin * dx.strides[2];
  float patches[kPositions];
  auto known = [&](int64_t d) { return truths[d] >= 0 && truths[d] < classes; };
  for (int64_t d = 0; d < n; ++d)
    patches[d] = known(d) ? gradient.truth(from[truths[d] * p.strides[1] + d * p.strides[2]]) : 0;
  for (int64_t c = 0; c < classes; ++c) {
    Row in{const_cast<float *>(from) + c * p.strides[1], p.strides[2]};
    Row out{to + c * dx.strides[1], dx.strides[2]};
    for (int64_t e = 0; e < n; e += kWidth)
      out.store(e, n, gradient.other(in.load(e, n)));
  }
  for (int64_t d = 0; d < n; ++d) {
    float *column = to + d * dx.strides[2];
    if (ignored && truths[d] == *ignored)
      for (int64_t c = 0; c < classes; ++c)
        column[c * dx.strides[1]] = 0;
    else if (known(d))
      column[truths[d] * dx.strides[1]] = patches[d];
  }
}

void softmaxOutputGradient(const SoftmaxOutputGradientLaunch &launch, Worker &worker) {
  const Tensor &p = launch.p, &label = launch.label, &dx = launch.dx;
  const bool shares = label.rank == 3;
  if (p.dtype != DType::F32 || (shares && label.dtype != DType::F32))
    return reference::kernel(KernelId::SoftmaxOutputGradient)(launch.wire, worker);
  if (shares)
    return outputGradientOfShares(launch, worker);

  const int64_t ignored = toIndex(launch.ignoreLabel),
                *skip = launch.useIgnore ? &ignored : nullptr;
  const OutputGradient gradient = outputGradientOf(launch, ignored);
  const int64_t classes = dx.shape[1], width = dx.shape[2];
  ReadIndex index = readIndex(label.dtype);
  auto labelAt = [&](int64_t a, int64_t d) {
    return index(label.data, a * label.strides[0] + d * label.strides[1]);
  };
  Share share(dx.shape[0], worker.index, worker.count);
  for (int64_t a = share.begin; a < share.end && !stopAsked(); ++a) {
    if (width == 1) {
      const int64_t truth = labelAt(a, 0);
      outputGradientRow(gradient, {p.as<float>() + a * p.strides[0], p.strides[1]},
                        {dx.as<float>() + a * dx.strides[0], dx.strides[1]}, classes, truth,
                        skip && truth == ignored);
      continue;
    }
    for (int64_t begin = 0; begin < width && !stopAsked(); begin += kPositions) {
      const int64_t n = minimum(kPositions, width - begin);
      int64_t truths[kPositions];
      for (int64_t d = 0; d < n; ++d)
        truths[d] = labelAt(a, begin + d);
      outputGradientColumns(gradient, p, dx, a, begin, n, truths, skip);
    }
  }
}

/// The result is one sum, so one worker computes it.
void softmaxCrossEntropy(const SoftmaxCrossEntropyLaunch &launch, Worker &worker) {
  const Tensor &x = launch.x, &label = launch.label, &y = launch.y;
  if (worker.index != 0)
    return;
  ReadIndex index = readIndex(label.dtype);
  double lanes[kPanel] = {};
  for (int64_t n = 0; n < x.shape[0] && !stopAsked(); ++n)
    lanes[n % kPanel] +=
        double(rowLoss(rowOf(x, n), x.shape[1], index(label.data, n * label.strides[0])).loss);
  *y.as<float>() = float(treeOfLanes(lanes));
}

} // namespace

void registerSoftmaxKernels(KernelTable &table) {
  table.set<softmax>();
  table.set<softmaxGradient>();
  table.set<softmaxOutputGradient>(KernelTable::Types::Any);
  table.set<validCount>(KernelTable::Types::Any);
  table.set<softmaxCrossEntropy>();
}

} // namespace lstmc::cpu::LSTMC_CPU_NAMESPACE
