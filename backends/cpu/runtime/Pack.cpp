// The kernel pack: a matrix in the panel order of abi/Packing.h.
#include <algorithm>

#include <xmmintrin.h>

#include "backends/cpu/runtime/KernelTable.h"
#include "backends/cpu/runtime/Vector.h"

namespace lstmc::cpu::LSTMC_CPU_NAMESPACE {

namespace {

/// Transposes 4 values of each of 4 columns into 4 steps of 4 lanes.
LSTMC_INLINE void turn(const float *w, int64_t nStride, float *p, int64_t pStride) {
  __m128 a = _mm_loadu_ps(w), b = _mm_loadu_ps(w + nStride), c = _mm_loadu_ps(w + 2 * nStride),
         d = _mm_loadu_ps(w + 3 * nStride);
  _MM_TRANSPOSE4_PS(a, b, c, d);
  _mm_storeu_ps(p, a);
  _mm_storeu_ps(p + pStride, b);
  _mm_storeu_ps(p + 2 * pStride, c);
  _mm_storeu_ps(p + 3 * pStride, d);
}

/// Packs `count` columns of [N, K], from w on, into a block of 16 columns: p[k * pStride + lane] is
/// 0 for lanes from count on.
void packColumns(const float *w, int64_t nStride, int64_t kStride, int64_t count, int64_t k,
                 float *p, int64_t pStride) {
  int64_t kk = 0;
  if (kStride == 1 && count == kPanel)
    for (; kk + 4 <= k; kk += 4)
      for (int64_t lane = 0; lane < kPanel; lane += 4)
        turn(w + lane * nStride + kk, nStride, p + kk * pStride + lane, pStride);
  if (nStride == 1 && count == kPanel)
    for (; kk < k; ++kk)
      __builtin_memcpy(p + kk * pStride, w + kk * kStride, kPanel * sizeof(float));
  for (; kk < k; ++kk)
    for (int64_t lane = 0; lane < kPanel; ++lane)
      p[kk * pStride + lane] = lane < count ? w[kk * kStride + lane * nStride] : 0.0f;
}

void pack(const PackLaunch &launch, Worker &worker) {
  const Tensor &w = launch.w;
  float *p = launch.p.as<float>();
  int64_t gates = std::max<int64_t>(launch.gates, 1);
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

void registerPack(KernelTable &table) { table.set<pack>(); }

} // namespace lstmc::cpu::LSTMC_CPU_NAMESPACE
