#include "backends/cuda/kernels/Products.h"

#include "backends/cuda/kernels/Double.h"
#include "backends/cuda/kernels/Float.h"

namespace lstmc::gpu {

// p is [A, panels, K, gates, 16]. Column c of panel u of gate g is row g * units + u * 16 + c of w,
// or 0 for units beyond the last.
LSTMC_GPU_KERNEL(lstmc_pack, PackArguments, a) {
  int64_t units = a.w.shape[1] / a.gates, steps = a.w.shape[2];
  int64_t panels = (units + int(kPanel) - 1) / int(kPanel);
  for (int64_t i = globalThreadIndex(); i < a.count; i += gridThreads()) {
    int64_t column = i % int(kPanel), rest = i / int(kPanel);
    int64_t gate = rest % a.gates, k = rest / a.gates % steps, panel = rest / a.gates / steps;
    int64_t unit = panel % panels * int(kPanel) + column;
    uint64_t bits = 0;
    if (unit < units)
      bits = loadBits(a.w, at(a.w, panel / panels, gate * units + unit, k), a.bytes);
    storeBits(a.p, i, a.bytes, bits);
  }
}

/// One accumulator from +0, one fused multiply-add for each k, ascending; then the bias
/// (docs/numerics.md rule 1).
template <typename V> LSTMC_DEVICE void product(const ProductArguments &a) {
  using T = typename V::Stored;
  Shared<T> rows = shared<T>(0, kProductRows * kProductSteps);
  int64_t gate = blockIndex() % a.gates, panel = blockIndex() / a.gates % a.panels;
  int64_t block = blockIndex() / a.gates / a.panels;
  int64_t outer = block / a.rowBlocks, first = block % a.rowBlocks * kProductRows;
  int64_t m = a.y.shape[1], n = a.y.shape[2], steps = a.x.shape[2];
  int row = threadIndex() / int(kPanel), column = threadIndex() % int(kPanel);
  Global<const T> x = elementsOf<const T>(a.x), p = elementsOf<const T>(a.p);
  int64_t matrix = ((a.oneMatrix ? 0 : outer) * a.panels + panel) * steps;

  V sum = {0};
  for (int64_t begin = 0; begin < steps; begin += kProductSteps) {
    int count = int(steps - begin < kProductSteps ? steps - begin : kProductSteps);
    for (int i = threadIndex(); i < kProductRows * count; i += blockThreads()) {
      int64_t r = first + i / count;
      rows.store(i, r < m ? x.load(at(a.x, outer, r, begin + i % count)) : T(0));
    }
    syncThreads();
    for (int k = 0; k < count; ++k) {
      const V w = {p.load(((matrix + begin + k) * a.gates + gate) * kPanel + column)};
      sum = multiplyAdd(V{rows.load(row * count + k)}, w, sum);
    }
    syncThreads();
  }
  int64_t unit = panel * int(kPanel) + column, units = n / a.gates;
  if (first + row >= m || unit >= units)
    return;
  int64_t c = gate * units + unit;
  if (a.bias.data)
    sum = sum + V{elementsOf<const T>(a.bias).load(at(a.bias, c))};
  elementsOf<T>(a.y).store(at(a.y, outer, first + row, c), sum.v);
}

LSTMC_GPU_KERNEL(lstmc_unpack, UnpackArguments, a) {
  const int64_t columns = a.gates * a.units, each = a.depth * columns;
  const int64_t panels = (a.units + int(kPanel) - 1) / int(kPanel);
  const Global<const float> p = elementsOf<const float>(a.p);
  for (int64_t i = globalThreadIndex(); i < a.count; i += gridThreads()) {
    const int64_t column = i % columns, gate = column / a.units, unit = column % a.units;
    const int64_t row = (i / each * panels + unit / int(kPanel)) * a.depth + i % each / columns;
    a.y.store(i, p.load((row * a.gates + gate) * int(kPanel) + unit % int(kPanel)));
  }
}
LSTMC_GPU_KERNEL(lstmc_product_f32, ProductArguments, a) { product<Float>(a); }
LSTMC_GPU_KERNEL(lstmc_product_f64, ProductArguments, a) { product<Double>(a); }

} // namespace lstmc::gpu
