#include "backends/cuda/kernels/Gradients.h"

#include "backends/cuda/kernels/Sums.h"

namespace lstmc::gpu {

namespace {

template <typename V>
LSTMC_DEVICE V elementOf(void *data, const int64_t *strides, int64_t o, int64_t b, int64_t q,
                         int64_t n) {
  return {Global<const typename V::Stored>{static_cast<typename V::Stored *>(data)}.load(
      o * strides[0] + b * strides[1] + q * strides[2] + n * strides[3])};
}

/// Sums inside a shard (docs/numerics.md rule 4): from `first`, uses in their order, (o, q)
/// descending, rows ascending; then the tree. `term` gives the sum with one row of one use.
template <typename V, typename Term>
LSTMC_DEVICE V sumOfUses(const GradientArguments &a, V first, Term term) {
  return sumOverShards<V>(a.range, [&](int64_t begin, int64_t end) {
    V sum = first;
    for (int64_t i = 0; i < a.useCount; ++i) {
      const GradientUse use = a.uses.row(i);
      for (int64_t o = use.outer - 1; o >= 0; --o)
        for (int64_t q = use.inner - 1; q >= 0; --q)
          for (int64_t b = begin; b < end; ++b)
            sum = term(use, o, b, q, sum);
    }
    return sum;
  });
}

/// What the sum of an element goes on from, at this offset in `begin`.
template <typename V> LSTMC_DEVICE V sumSoFar(const GradientArguments &a, int64_t offset) {
  return a.begin.data ? V{elementsOf<const typename V::Stored>(a.begin).load(offset)} : V{0};
}

template <typename V> LSTMC_DEVICE void weightGradient(const GradientArguments &a) {
  const int64_t rows = a.y.shape[0], columns = a.y.shape[1];
  for (int64_t i = globalThreadIndex(); i < a.count; i += gridThreads()) {
    const int64_t n = i / columns, k = i % columns;
    const V sum = sumOfUses<V>(
        a, sumSoFar<V>(a, at(a.begin, n, k)),
        [&](const GradientUse &use, int64_t o, int64_t b, int64_t q, V before) -> V {
          if (use.indexType < 0)
            return multiplyAdd(elementOf<V>(use.dy, use.dyStrides, o, b, q, n),
                               elementOf<V>(use.x, use.xStrides, o, b, q, k), before);
          const Operand indices = {use.x, use.indexType, 0, {}, {}};
          const int64_t index =
              indexAt(indices, o * use.xStrides[0] + b * use.xStrides[1] + q * use.xStrides[2]);
          return inside(index, rows, false) == n
                     ? before + elementOf<V>(use.dy, use.dyStrides, o, b, q, k)
                     : before;
        });
    elementsOf<typename V::Stored>(a.y).store(at(a.y, n, k), sum.v);
  }
}

template <typename V> LSTMC_DEVICE void biasGradient(const GradientArguments &a) {
  for (int64_t n = globalThreadIndex(); n < a.count; n += gridThreads()) {
    const V sum =
        sumOfUses<V>(a, sumSoFar<V>(a, at(a.begin, n)),
                     [&](const GradientUse &use, int64_t o, int64_t b, int64_t q, V before) -> V {
                       return before + elementOf<V>(use.dy, use.dyStrides, o, b, q, n);
                     });
    elementsOf<typename V::Stored>(a.y).store(at(a.y, n), sum.v);
  }
}

} // namespace

LSTMC_GPU_KERNEL(lstmc_weight_gradient_f32, GradientArguments, a) { weightGradient<Float>(a); }
LSTMC_GPU_KERNEL(lstmc_weight_gradient_f64, GradientArguments, a) { weightGradient<Double>(a); }
LSTMC_GPU_KERNEL(lstmc_bias_gradient_f32, GradientArguments, a) { biasGradient<Float>(a); }
LSTMC_GPU_KERNEL(lstmc_bias_gradient_f64, GradientArguments, a) { biasGradient<Double>(a); }

} // namespace lstmc::gpu
