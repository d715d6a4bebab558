#include "backends/cpu/runtime/InitialElements.h"

#include <algorithm>

#include "executor/abi/Gate.h"
#include "executor/base/InitialNumbers.h"
#include "executor/base/Numeric.h"

namespace lstmc::cpu {

namespace {

InitialNumbers numbersOf(const InitialiseLaunch &launch) {
  const Tensor &seed = launch.seed;
  return {uint64_t(readElement<int64_t>(seed.data, seed.dtype, 0)), uint32_t(launch.ordinal)};
}

} // namespace

void initialElements(const InitialiseLaunch &launch, int64_t begin, int64_t end) {
  const Tensor &w = launch.w;
  const double a = launch.a, b = launch.b;
  const InitialNumbers numbers = numbersOf(launch);
  const InitKind kind = launch.kind;
  const int64_t elements = w.elements();
  if (kind == InitKind::Normal) {
    for (int64_t e = begin & ~int64_t(1); e < end; e += 2) {
      double even, odd;
      numbers.normalPair(uint64_t(e), even, odd);
      if (e >= begin)
        writeElement(w.data, w.dtype, e, a * even);
      if (e + 1 < end)
        writeElement(w.data, w.dtype, e + 1, a * odd);
    }
    return;
  }
  for (int64_t e = begin; e < end; ++e) {
    double value = a;
    if (kind == InitKind::Uniform)
      value = a + (b - a) * numbers.uniform(uint64_t(e));
    else if (kind == InitKind::LstmBias)
      value = e * 4 / elements == kGateF ? a : 0;
    writeElement(w.data, w.dtype, e, value);
  }
}

template <typename Real>
void orthogonalStart(const InitialiseLaunch &launch, Real *vectors, int64_t begin, int64_t end) {
  const InitialNumbers numbers = numbersOf(launch);
  const Tensor &w = launch.w;
  const int64_t rows = w.rank > 0 ? w.shape[0] : 1, columns = w.elements() / rows;
  const bool normal = launch.variant == OrthogonalStart::Normal;
  for (int64_t e = begin & ~int64_t(3); e < end; e += 4) {
    double four[4];
    if (normal)
      for (int i = 0; i < 4; i += 2)
        numbers.normalPair(uint64_t(e + i), four[i], four[i + 1]);
    else
      numbers.uniformFour(uint64_t(e), four);
    for (int64_t at = std::max(begin, e); at < std::min(end, e + 4); ++at)
      vectors[rows <= columns ? at : at % columns * rows + at / columns] =
          Real(normal ? four[at - e] : 2 * four[at - e] - 1);
  }
}
template void orthogonalStart(const InitialiseLaunch &, float *, int64_t, int64_t);
template void orthogonalStart(const InitialiseLaunch &, double *, int64_t, int64_t);

} // namespace lstmc::cpu
