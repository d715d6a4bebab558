// initialise: first values of parameters.
#include <cstdlib>

#include "backends/cpu/runtime/InitialElements.h"
#include "backends/cpu/runtime/KernelTable.h"
#include "backends/cpu/runtime/Lanes64.h"
#include "backends/cpu/runtime/StridedWalk.h"
#include "backends/cpu/runtime/TileCopy.h"

namespace lstmc::cpu::LSTMC_CPU_NAMESPACE {

namespace {

/// Makes `count` vectors of `size` elements, one after the other, orthonormal: modified
/// Gram-Schmidt, twice over. One that depends on those before it is left 0.
void orthonormalise(double *vectors, int64_t count, int64_t size) {
  for (int64_t i = 0; i < count; ++i) {
    double *v = vectors + i * size;
    for (int64_t before = 0; before < 2 * i; ++before) {
      const double *w = vectors + before % i * size;
      double part = dot(v, w, size);
      for (int64_t e = 0; e < size; ++e)
        v[e] = __builtin_fma(-part, w[e], v[e]);
    }
    double norm = __builtin_sqrt(dot(v, v, size));
    for (int64_t e = 0; norm > 0 && e < size; ++e)
      v[e] /= norm;
  }
}

/// w [N, ...] as a matrix of N rows; its rows or columns, whichever are fewer, become orthonormal.
/// One worker: each vector needs all those before it. The matrix is kept in f64 in memory of its
/// own, which only this kernel takes.
void orthogonal(const LaunchArgs &args) {
  const Tensor &w = args.operands[1];
  int64_t elements = w.elements();
  if (elements == 0)
    return;
  int64_t rows = w.rank > 0 ? w.shape[0] : 1, columns = elements / rows;
  bool byRows = rows <= columns;
  auto *matrix = static_cast<double *>(std::malloc(size_t(elements) * sizeof(double) * 2));
  if (!matrix)
    std::abort();
  double *vectors = matrix + elements;
  orthogonalStart(args, matrix, elements);
  int64_t rowStep = byRows ? columns : 1, columnStep = byRows ? 1 : rows;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      vectors[r * rowStep + c * columnStep] = matrix[r * columns + c];
  orthonormalise(vectors, byRows ? rows : columns, byRows ? columns : rows);
  auto bytes = int64_t(dtypeBytes(w.dtype));
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      writeConstant(w.dtype, args.floats[0] * vectors[r * rowStep + c * columnStep],
                    w.as<char>() + (r * columns + c) * bytes);
  std::free(matrix);
}

void initialise(const LaunchArgs &args, Worker &worker) {
  if (InitKind(args.ints[0]) == InitKind::Orthogonal) {
    if (worker.index == 0)
      orthogonal(args);
    return;
  }
  Share share(args.operands[1].elements(), worker.index, worker.count);
  initialElements(args, share.begin, share.end);
}

} // namespace

void registerInitialiseKernel(KernelTable &table) {
  table.set(KernelId::Initialise, initialise, KernelTable::Types::Any);
}

} // namespace lstmc::cpu::LSTMC_CPU_NAMESPACE
