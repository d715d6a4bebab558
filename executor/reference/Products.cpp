// pack, product and the gradients of weights and biases.
#include "executor/base/Tree.h"
#include "executor/reference/Groups.h"
#include "executor/reference/View.h"

namespace lstmc::reference {

namespace {

template <typename T> void pack(const LaunchArgs &args) {
  const Tensor &w = args.operands[0], &p = args.operands[1];
  const int64_t A = w.shape[0], N = w.shape[1], K = w.shape[2], gates = args.ints[0];
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

template <typename Real> void product(const LaunchArgs &args) {
  enum { X, P, Bias, Y };
  std::span<const Tensor> o = args.operands;
  const View<Real> x(o[X]), bias(o[Bias]), y(o[Y]);
  const int64_t K = x.extent(2), N = y.extent(2);
  for (int64_t a = 0; a < y.extent(0); ++a) {
    const Packed<const Real> w(elementsOf<Real>(o[P]) + a * packedElements(N, K, 0), N, K, 0);
    for (int64_t m = 0; m < y.extent(1); ++m)
      for (int64_t n = 0; n < N; ++n) {
        Real sum = 0;
        for (int64_t k = 0; k < K; ++k)
          sum = std::fma(x(a, m, k), w(n, k), sum);
        y(a, m, n) = bias ? sum + bias(n) : sum;
      }
  }
}

/// Walks the rows [begin, end) of one use's batch in the order in which gradients are summed: (o,
/// q) descending, then rows ascending. dy [O, B, Q, N].
template <typename F> void forRows(const Tensor &dy, int64_t begin, int64_t end, F f) {
  const int64_t O = dy.shape[0], Q = dy.shape[2];
  for (int64_t o = O - 1; o >= 0; --o)
    for (int64_t q = Q - 1; q >= 0; --q)
      for (int64_t b = begin; b < end; ++b)
        f(o, b, q);
}

template <typename Real> void weightGradient(const LaunchArgs &args) {
  const View<Real> dw(args.operands[0]);
  const std::span<const Tensor> uses = args.operands.subspan(2); // dy, x, dy, x, ...
  const ShardRange range = ShardRange::of(args.ints);
  for (int64_t n = 0; n < dw.extent(0); ++n)
    for (int64_t k = 0; k < dw.extent(1); ++k)
      dw(n, k) = sumOverShards<Real>(range, [&](int64_t begin, int64_t end) {
        Real sum = 0;
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

template <typename Real> void biasGradient(const LaunchArgs &args) {
  const View<Real> db(args.operands[0]);
  const std::span<const Tensor> uses = args.operands.subspan(1);
  const ShardRange range = ShardRange::of(args.ints);
  for (int64_t n = 0; n < db.extent(0); ++n)
    db(n) = sumOverShards<Real>(range, [&](int64_t begin, int64_t end) {
      Real sum = 0;
      for (const Tensor &use : uses)
        forRows(use, begin, end,
                [&](int64_t o, int64_t b, int64_t q) { sum = sum + View<Real>(use)(o, b, q, n); });
      return sum;
    });
}

} // namespace

void runPack(const LaunchArgs &args) {
  withBytes(args.operands[0], [&](auto bits) { pack<decltype(bits)>(args); });
}

void runProduct(const LaunchArgs &args) {
  withFloat(args.operands[0], [&](auto real) { product<decltype(real)>(args); });
}

void runWeightGradient(const LaunchArgs &args) {
  withFloat(args.operands[0], [&](auto real) { weightGradient<decltype(real)>(args); });
}

void runBiasGradient(const LaunchArgs &args) {
  withFloat(args.operands[0], [&](auto real) { biasGradient<decltype(real)>(args); });
}

} // namespace lstmc::reference
