#include "backends/cuda/kernels/Losses.h"

#include "backends/cuda/kernels/Rows.h"

namespace lstmc::gpu {

namespace {

/// Number of labels [A, D] that are not the ignored one: every thread of the block gets it.
LSTMC_DEVICE int64_t validCount(const Operand &label, int64_t ignored) {
  const Shared<int64_t> counts = shared<int64_t>(0, blockThreads());
  const int64_t depth = label.shape[1], all = label.shape[0] * depth;
  int64_t count = 0;
  for (int64_t i = threadIndex(); i < all; i += blockThreads())
    count += indexAt(label, at(label, i / depth, i % depth)) != ignored;
  counts.store(threadIndex(), count);
  syncThreads();
  for (int i = 1; threadIndex() == 0 && i < blockThreads(); ++i)
    counts.store(0, counts.load(0) + counts.load(i));
  syncThreads();
  return counts.load(0);
}

template <typename V> LSTMC_DEVICE void softmaxOutputGradient(const SoftmaxOutputArguments &a) {
  using T = typename V::Stored;
  const int64_t classes = a.dx.shape[1], depth = a.dx.shape[2];
  const bool valid = a.normalization == SoftmaxNormalization::Valid;
  const bool probabilities = a.label.rank == 3;
  Double count = {1};
  if (a.valid.data)
    count = loadAs<Double>(a.valid, 0);
  else if (a.normalization == SoftmaxNormalization::Batch)
    count = {double(a.multi ? a.dx.shape[0] : a.dx.shape[0] * depth)};
  else if (valid && !probabilities)
    count = {double(validCount(a.label, a.ignored))};
  if (count < Double{1})
    count = {1};
  const V scale = {converted<T>(
      (Double{a.gradScale} / Double{double(a.multi && !valid ? depth : 1)} / count).v)};
  const V alpha = {converted<T>(a.multi ? 0.0 : a.smoothAlpha)};

  for (int64_t i = globalThreadIndex(); i < a.count; i += gridThreads()) {
    const int64_t outer = i / (classes * depth), c = i / depth % classes, d = i % depth;
    const V p = loadAs<V>(a.p, at(a.p, outer, c, d));
    V g = p;
    if (probabilities) { // only the scale is applied
      g = (p - V{elementAs<T>(a.label, at(a.label, outer, c, d))}) * V{converted<T>(a.gradScale)};
    } else {
      const int64_t truth = indexAt(a.label, at(a.label, outer, d));
      if (a.useIgnore && truth == a.ignored)
        g = {0};
      else if (c == truth)
        g = ((g - V{1}) + alpha) * scale;
      else
        g = (alpha == V{0} ? g : g - alpha / V{T(classes - 1)}) * scale;
    }
    storeAs(a.dx, at(a.dx, outer, c, d), g);
  }
}

/// Row n belongs to lane n mod 16, which is a warp.
template <typename V> LSTMC_DEVICE void softmaxCrossEntropy(const CrossEntropyArguments &a) {
  const Shared<double> lanes = shared<double>(0, kLanes);
  const int64_t rows = a.x.shape[0], classes = a.x.shape[1];
  Double sum = {0};
  for (int64_t n = warpIndex(); n < rows; n += kLanes) {
    auto x = [&](int64_t c) { return loadAs<V>(a.x, at(a.x, n, c)); };
    const SoftmaxRow row(classes, V{1}, x);
    const int64_t label = inside(indexAt(a.label, at(a.label, n)), classes, false);
    sum = sum + Double{converted<double>((-row.logProbability(label)).v)};
  }
  if (laneIndex() == 0)
    lanes.store(warpIndex(), sum.v);
  syncThreads();
  if (warpIndex() != 0)
    return;
  sum =
      joinLanes(Double{lanes.load(laneIndex() % kLanes)}, [](Double x, Double y) { return x + y; });
  if (laneIndex() == 0)
    storeAs(a.y, 0, V{converted<typename V::Stored>(sum.v)});
}

} // namespace

LSTMC_GPU_KERNEL(lstmc_softmax_output_gradient_f32, SoftmaxOutputArguments, a) {
  softmaxOutputGradient<Float>(a);
}
LSTMC_GPU_KERNEL(lstmc_softmax_output_gradient_f64, SoftmaxOutputArguments, a) {
  softmaxOutputGradient<Double>(a);
}

LSTMC_GPU_KERNEL(lstmc_valid_count, ValidCountArguments, a) {
  const int64_t count = validCount(a.label, a.ignored);
  if (threadIndex() == 0)
    elementsOf<double>(a.y).store(0, double(count));
}

LSTMC_GPU_KERNEL(lstmc_softmax_cross_entropy_f32, CrossEntropyArguments, a) {
  softmaxCrossEntropy<Float>(a);
}
LSTMC_GPU_KERNEL(lstmc_softmax_cross_entropy_f64, CrossEntropyArguments, a) {
  softmaxCrossEntropy<Double>(a);
}

} // namespace lstmc::gpu
