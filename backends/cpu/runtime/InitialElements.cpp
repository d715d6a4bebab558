#include "backends/cpu/runtime/InitialElements.h"

#include <algorithm>

#include "executor/abi/Gate.h"
#include "executor/base/InitialNumbers.h"
#include "executor/base/Numeric.h"

namespace lstmc::cpu {

namespace {

InitialNumbers numbersOf(const LaunchArgs &args) {
  const Tensor &seed = args.operands[0];
  return {uint64_t(readElement<int64_t>(seed.data, seed.dtype, 0)), uint32_t(args.ints[1])};
}

} // namespace

void initialElements(const LaunchArgs &args, int64_t begin, int64_t end) {
  const Tensor &w = args.operands[1];
  const double a = args.floats[0], b = args.floats[1];
  const InitialNumbers numbers = numbersOf(args);
  const auto kind = InitKind(args.ints[0]);
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
void orthogonalStart(const LaunchArgs &args, Real *vectors, int64_t begin, int64_t end) {
  const InitialNumbers numbers = numbersOf(args);
  const Tensor &w = args.operands[1];
  const int64_t rows = w.rank > 0 ? w.shape[0] : 1, columns = w.elements() / rows;
  const bool normal = args.ints[2] == 1;
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
template void orthogonalStart(const LaunchArgs &, float *, int64_t, int64_t);
template void orthogonalStart(const LaunchArgs &, double *, int64_t, int64_t);

} // namespace lstmc::cpu
