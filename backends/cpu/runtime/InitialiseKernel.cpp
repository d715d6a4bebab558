// The kernel initialise: initial values of parameters.
#include "backends/cpu/runtime/InitialElements.h"
#include "backends/cpu/runtime/KernelTable.h"
#include "backends/cpu/runtime/Orthogonal.h"
#include "executor/abi/Scratch.h"

namespace lstmc::cpu::LSTMC_CPU_NAMESPACE {

namespace {

/// w [N, ...] is read as a matrix of N rows. Its rows or its columns, the fewer, become
/// orthonormal: rows in place, columns in scratch, where they are stored one after the other.
template <typename Real> void orthogonal(const InitialiseLaunch &launch, Worker &worker) {
  const Tensor &w = launch.w;
  const int64_t elements = w.elements(), rows = w.rank > 0 ? w.shape[0] : 1;
  if (elements == 0)
    return;
  const int64_t columns = elements / rows;
  const bool byRows = rows <= columns;
  const auto parts = scratchOf<int64_t>(launch, rows, columns, sizeof(Real));
  char *scratch = launch.scratch.as<char>();
  Real *vectors = byRows ? w.as<Real>() : reinterpret_cast<Real *>(scratch + parts.matrix);
  const Share share(elements, worker.index, worker.count);
  orthogonalStart(launch, vectors, share.begin, share.end);
  worker.barrier();
  Orthonormaliser<Real>(vectors, minimum(rows, columns), maximum(rows, columns),
                        reinterpret_cast<double *>(scratch),
                        reinterpret_cast<double *>(scratch + parts.scales), worker)
      .run();
  const double scale = launch.a;
  for (int64_t e = share.begin; e < share.end; ++e)
    w.as<Real>()[e] = Real(scale * double(vectors[byRows ? e : e % columns * rows + e / columns]));
}

void initialise(const InitialiseLaunch &launch, Worker &worker) {
  if (launch.kind == InitKind::Orthogonal) {
    if (launch.w.dtype == DType::F64)
      return orthogonal<double>(launch, worker);
    return orthogonal<float>(launch, worker);
  }
  Share share(launch.w.elements(), worker.index, worker.count);
  initialElements(launch, share.begin, share.end);
}

} // namespace

void registerInitialiseKernel(KernelTable &table) {
  table.set<initialise>(KernelTable::Types::Any);
}

} // namespace lstmc::cpu::LSTMC_CPU_NAMESPACE
