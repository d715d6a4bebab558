// pack: a matrix in the panel order of abi/Packing.h.
#include <algorithm>

#include "backends/cpu/runtime/KernelTable.h"
#include "backends/cpu/runtime/Vector.h"

namespace lstmc::cpu::LSTMC_CPU_NAMESPACE {

namespace {

/// Columns n0 to n0 + count - 1 of [N, K] into one block of 16 columns: p[k * kStride + lane].
void packColumns(const float *w, int64_t nStride, int64_t kStride, int64_t count, int64_t k,
                 float *p, int64_t pStride) {
  for (int64_t kk = 0; kk < k; ++kk) {
    const float *from = w + kk * kStride;
    float *to = p + kk * pStride;
    for (int64_t lane = 0; lane < count; ++lane)
      to[lane] = from[lane * nStride];
    for (int64_t lane = count; lane < kPanel; ++lane)
      to[lane] = 0.0f;
  }
}

void pack(const LaunchArgs &args, Worker &worker) {
  const Tensor &w = args.operands[0];
  float *p = args.operands[1].as<float>();
  int64_t gates = std::max<int64_t>(args.ints[0], 1);
  int64_t n = w.shape[1] / gates, k = w.shape[2];
  int64_t panels = roundUp(n, kPanel) / kPanel;
  int64_t blocks = w.shape[0] * panels * gates;
  for (int64_t i = blocks * worker.index / worker.count;
       i < blocks * (worker.index + 1) / worker.count; ++i) {
    int64_t gate = i % gates, panel = i / gates % panels, a = i / gates / panels;
    const float *from =
        w.as<float>() + a * w.strides[0] + (gate * n + panel * kPanel) * w.strides[1];
    packColumns(from, w.strides[1], w.strides[2], std::min(kPanel, n - panel * kPanel), k,
                p + ((a * panels + panel) * k * gates + gate) * kPanel, gates * kPanel);
  }
}

} // namespace

void registerPack(KernelTable &table) { table.set(KernelId::Pack, pack); }

} // namespace lstmc::cpu::LSTMC_CPU_NAMESPACE
