// initialise: first values of parameters, each a function of seed, ordinal and element.
#include <vector>

#include "executor/abi/Gate.h"
#include "executor/abi/Kernels.h"
#include "executor/base/InitialNumbers.h"
#include "executor/base/Tree.h"
#include "executor/reference/Groups.h"
#include "executor/reference/View.h"

namespace lstmc::reference {

namespace {

/// Makes `count` vectors of `size` elements orthonormal: vector v, element e at v * vectorStride +
/// e * stride. Modified Gram-Schmidt, twice over, so that rounding of the first pass does not stay;
/// products in lanes. One that depends on those before it is left 0.
void orthonormalise(double *data, int64_t count, int64_t size, int64_t vectorStride,
                    int64_t stride) {
  auto dot = [&](int64_t v, int64_t w) {
    return sumInLanes<double>(size, [&](int64_t e, double lane) {
      return std::fma(data[v * vectorStride + e * stride], data[w * vectorStride + e * stride],
                      lane);
    });
  };
  for (int64_t v = 0; v < count; ++v) {
    for (int64_t before = 0; before < 2 * v; ++before) {
      const int64_t w = before % v;
      const double part = dot(v, w);
      for (int64_t e = 0; e < size; ++e) {
        double &element = data[v * vectorStride + e * stride];
        element = std::fma(-part, data[w * vectorStride + e * stride], element);
      }
    }
    const double norm = std::sqrt(dot(v, v));
    for (int64_t e = 0; norm > 0 && e < size; ++e)
      data[v * vectorStride + e * stride] /= norm;
  }
}

/// w [N, ...] as a matrix of N rows.
void orthogonal(const Tensor &w, const InitialNumbers &source, bool fromNormal, double scale) {
  const int64_t elements = w.elements(), rows = w.rank > 0 ? w.shape[0] : 1;
  if (elements == 0)
    return;
  const int64_t columns = elements / rows;
  std::vector<double> matrix(elements);
  for (int64_t e = 0; e < elements; ++e)
    matrix[e] = fromNormal ? source.normal(e) : 2 * source.uniform(e) - 1;
  if (rows <= columns)
    orthonormalise(matrix.data(), rows, columns, columns, 1);
  else
    orthonormalise(matrix.data(), columns, rows, 1, columns);
  for (int64_t e = 0; e < elements; ++e)
    writeElement(w.data, w.dtype, e, scale * matrix[e]);
}

} // namespace

void runInitialise(const LaunchArgs &args) {
  const Tensor &seed = args.operands[0], &w = args.operands[1];
  const double a = args.floats[0], b = args.floats[1];
  const InitialNumbers source{uint64_t(indexAt(seed, 0)), uint32_t(args.ints[1])};
  const InitKind kind = InitKind(args.ints[0]);
  if (kind == InitKind::Orthogonal)
    return orthogonal(w, source, args.ints[2] == 1, a);

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
