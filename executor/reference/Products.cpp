// The kernels pack and product, and the gradients of weights and biases.
#include "executor/base/Tree.h"
#include "executor/device/StopFlag.h"
#include "executor/reference/Groups.h"
#include "executor/reference/View.h"

namespace lstmc::reference {

namespace {

template <typename T> void pack(const PackLaunch &launch) {
  const Tensor &w = launch.w, &p = launch.p;
  const int64_t A = w.shape[0], N = w.shape[1], K = w.shape[2], gates = launch.gates;
  const View<T> source(w);
  const int64_t each = packedElements(N, K, gates);
  for (int64_t a = 0; a < A; ++a) {
    T *data = p.as<T>() + a * each;
    std::fill_n(data, each, T(0));
    const Packed<T> packed(data, N, K, gates);
    for (int64_t n = 0; n < N; ++n)
      for (int64_t k = 0; k < K; ++k)
        packed(n, k) = source(a, n, k);
  }
}

template <typename Real> void product(const ProductLaunch &launch) {
  const View<Real> x(launch.x), bias(launch.bias), y(launch.y);
  const int64_t K = x.extent(2), N = y.extent(2);
  for (int64_t a = 0; a < y.extent(0); ++a) {
    const Packed<const Real> w(elementsOf<Real>(launch.p) + a * packedElements(N, K, 0), N, K, 0);
    for (int64_t m = 0; m < y.extent(1) && !stopAsked(); ++m)
      for (int64_t n = 0; n < N; ++n) {
        Real sum = 0;
        for (int64_t k = 0; k < K; ++k)
          sum = std::fma(x(a, m, k), w(n, k), sum);
        y(a, m, n) = bias ? sum + bias(n) : sum;
      }
  }
}

/// Visits the rows [begin, end) of one use's batch in the order in which gradients are summed: (o,
/// q) descending, then rows ascending. dy is [O, B, Q, N].
template <typename F> void forRows(const Tensor &dy, int64_t begin, int64_t end, F f) {
  const int64_t O = dy.shape[0], Q = dy.shape[2];
  for (int64_t o = O - 1; o >= 0; --o)
    for (int64_t q = Q - 1; q >= 0; --q)
      for (int64_t b = begin; b < end; ++b)
        f(o, b, q);
}

template <typename Real> void weightGradient(const WeightGradientLaunch &launch) {
  const View<Real> dw(launch.dw), sumSoFar(launch.begin);
  const std::span<const Tensor> uses = launch.repeated; // dy, x, dy, x, ...
  const ShardRange range = launch.range;
  for (int64_t n = 0; n < dw.extent(0); ++n)
    for (int64_t k = 0; k < dw.extent(1) && !stopAsked(); ++k)
      dw(n, k) = sumOverShards<Real>(range, [&](int64_t begin, int64_t end) {
        Real sum = sumSoFar ? sumSoFar(n, k) : 0;
        for (size_t use = 0; use < uses.size(); use += 2) {
          const View<Real> dy(uses[use]);
          const Tensor &x = uses[use + 1];
          const bool embedding = x.rank == 3;
          forRows(uses[use], begin, end, [&](int64_t o, int64_t b, int64_t q) {
            if (!embedding)
              sum = std::fma(dy(o, b, q, n), View<Real>{x}(o, b, q, k), sum);
            else if (inside(indexAt(x, o, b, q), dw.extent(0), false) == n)
              sum = sum + dy(o, b, q, k);
          });
        }
        return sum;
      });
}

template <typename Real> void biasGradient(const BiasGradientLaunch &launch) {
  const View<Real> db(launch.db), sumSoFar(launch.begin);
  const std::span<const Tensor> uses = launch.repeated;
  const ShardRange range = launch.range;
  for (int64_t n = 0; n < db.extent(0); ++n)
    db(n) = sumOverShards<Real>(range, [&](int64_t begin, int64_t end) {
      Real sum = sumSoFar ? sumSoFar(n) : 0;
      for (const Tensor &use : uses)
        forRows(use, begin, end,
                [&](int64_t o, int64_t b, int64_t q) { sum = sum + View<Real>(use)(o, b, q, n); });
      return sum;
    });
}

} // namespace

void runPack(const PackLaunch &launch) {
  withBytes(launch.w, [&](auto bits) { pack<decltype(bits)>(launch); });
}

void runProduct(const ProductLaunch &launch) {
  withFloat(launch.x, [&](auto real) { product<decltype(real)>(launch); });
}

void runWeightGradient(const WeightGradientLaunch &launch) {
  withFloat(launch.dw, [&](auto real) { weightGradient<decltype(real)>(launch); });
}

void runBiasGradient(const BiasGradientLaunch &launch) {
  withFloat(launch.db, [&](auto real) { biasGradient<decltype(real)>(launch); });
}

} // namespace lstmc::reference
