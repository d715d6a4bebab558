// The kernel initialise: initial values of parameters, functions of seed, ordinal and element.
#include <algorithm>
#include <limits>

#include "executor/abi/Gate.h"
#include "executor/abi/Scratch.h"
#include "executor/base/InitialNumbers.h"
#include "executor/base/OrthogonalBlock.h"
#include "executor/base/Tree.h"
#include "executor/reference/Groups.h"
#include "executor/reference/View.h"

namespace lstmc::reference {

namespace {

/// The algorithm of executor/base/OrthogonalBlock.h, for vectors one after the other.
template <typename Real> class Vectors {
public:
  Vectors(Real *data, int64_t count, int64_t size) : data_(data), count_(count), size_(size) {}

  Real &at(int64_t vector, int64_t element) const { return data_[vector * size_ + element]; }

  void orthonormalise(double *sums, double *scales) const {
    const int64_t block = std::min(count_, kOrthogonalBlock);
    for (int64_t first = 0; first < count_; first += block) {
      const int64_t count = std::min(block, count_ - first);
      bool again = true;
      for (int pass = 0; pass < kOrthogonalPasses && again; ++pass) {
        for (int64_t j = 0; j < first + count; ++j)
          for (int64_t i = 0; i < count; ++i)
            sums[j * block + i] = product(j, first + i);
        again = factor(sums, block, first, count, std::numeric_limits<Real>::epsilon(), scales);
        for (int64_t i = 0; i < count; ++i)
          for (int64_t e = 0; e < size_; ++e) {
            Real v = at(first + i, e);
            for (int64_t j = 0; j < first + i; ++j)
              v = std::fma(Real(sums[j * block + i]), at(j, e), v);
            at(first + i, e) = v * Real(scales[i]);
          }
      }
    }
  }

private:
  double product(int64_t j, int64_t i) const {
    double sum = 0;
    for (int64_t begin = 0; begin < size_; begin += kOrthogonalTile)
      sum += double(
          sumInLanes<Real>(std::min(size_ - begin, kOrthogonalTile), [&](int64_t e, Real lane) {
            return std::fma(at(j, begin + e), at(i, begin + e), lane);
          }));
    return sum;
  }

  Real *data_;
  int64_t count_, size_;
};

/// w [N, ...] is read as a matrix of N rows. Its rows or its columns, the fewer, become
/// orthonormal.
template <typename Real>
void orthogonal(const InitialiseLaunch &launch, const InitialNumbers &source) {
  const Tensor &w = launch.w;
  const int64_t elements = w.elements(), rows = w.rank > 0 ? w.shape[0] : 1;
  if (elements == 0)
    return;
  const int64_t columns = elements / rows;
  const auto parts = scratchOf<int64_t>(launch, rows, columns, sizeof(Real));
  auto *scratch = launch.scratch.as<std::byte>();
  Real *data = rows <= columns ? w.as<Real>() : reinterpret_cast<Real *>(scratch + parts.matrix);
  const Vectors<Real> vectors(data, std::min(rows, columns), std::max(rows, columns));
  auto at = [&](int64_t e) -> Real & {
    return rows <= columns ? vectors.at(e / columns, e % columns)
                           : vectors.at(e % columns, e / columns);
  };
  const bool fromNormal = launch.variant == OrthogonalStart::Normal;
  for (int64_t e = 0; e < elements; ++e)
    at(e) = Real(fromNormal ? source.normal(e) : 2 * source.uniform(e) - 1);
  vectors.orthonormalise(reinterpret_cast<double *>(scratch),
                         reinterpret_cast<double *>(scratch + parts.scales));
  for (int64_t e = 0; e < elements; ++e)
    w.as<Real>()[e] = Real(launch.a * double(at(e)));
}

} // namespace

void runInitialise(const InitialiseLaunch &launch) {
  const Tensor &seed = launch.seed, &w = launch.w;
  const double a = launch.a, b = launch.b;
  const InitialNumbers source{uint64_t(indexAt(seed, 0)), uint32_t(launch.ordinal)};
  const InitKind kind = launch.kind;
  if (kind == InitKind::Orthogonal)
    return withFloat(w, [&](auto real) { orthogonal<decltype(real)>(launch, source); });

  const int64_t elements = w.elements();
  for (int64_t e = 0; e < elements; ++e) {
    double value = a;
    if (kind == InitKind::Uniform)
      value = a + (b - a) * source.uniform(e);
    else if (kind == InitKind::Normal)
      value = a * source.normal(e);
    else if (kind == InitKind::LstmBias)
      value = e * 4 / elements == kGateF ? a : 0;
    writeElement(w.data, w.dtype, e, value);
  }
}

} // namespace lstmc::reference
