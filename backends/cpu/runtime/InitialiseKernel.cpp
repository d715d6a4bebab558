// initialise: first values of parameters.
#include "backends/cpu/runtime/InitialElements.h"
#include "backends/cpu/runtime/KernelTable.h"
#include "backends/cpu/runtime/Orthogonal.h"

namespace lstmc::cpu::LSTMC_CPU_NAMESPACE {

namespace {

/// w [N, ...] as a matrix of N rows; its rows or columns, whichever are fewer, become orthonormal:
/// rows in place, columns in the scratch, where they lie one after the other.
template <typename Real> void orthogonal(const LaunchArgs &args, Worker &worker) {
  const Tensor &w = args.operands[1];
  const int64_t elements = w.elements(), rows = w.rank > 0 ? w.shape[0] : 1;
  if (elements == 0)
    return;
  const int64_t columns = elements / rows;
  const bool byRows = rows <= columns;
  const auto parts = orthogonalScratch<int64_t>(rows, columns, sizeof(Real));
  char *scratch = args.operands[2].as<char>();
  Real *vectors = byRows ? w.as<Real>() : reinterpret_cast<Real *>(scratch + parts.matrix);
  const Share share(elements, worker.index, worker.count);
  orthogonalStart(args, vectors, share.begin, share.end);
  worker.barrier();
  Orthonormaliser<Real>(vectors, minimum(rows, columns), maximum(rows, columns),
                        reinterpret_cast<double *>(scratch),
                        reinterpret_cast<double *>(scratch + parts.scales), worker)
      .run();
  const double scale = args.floats[0];
  for (int64_t e = share.begin; e < share.end; ++e)
    w.as<Real>()[e] = Real(scale * double(vectors[byRows ? e : e % columns * rows + e / columns]));
}

void initialise(const LaunchArgs &args, Worker &worker) {
  if (InitKind(args.ints[0]) == InitKind::Orthogonal) {
    if (args.operands[1].dtype == DType::F64)
      return orthogonal<double>(args, worker);
    return orthogonal<float>(args, worker);
  }
  Share share(args.operands[1].elements(), worker.index, worker.count);
  initialElements(args, share.begin, share.end);
}

} // namespace

void registerInitialiseKernel(KernelTable &table) {
  table.set(KernelId::Initialise, initialise, KernelTable::Types::Any);
}

} // namespace lstmc::cpu::LSTMC_CPU_NAMESPACE
