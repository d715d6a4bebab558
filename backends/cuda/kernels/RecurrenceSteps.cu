#include "backends/cuda/kernels/RecurrenceSteps.h"

#include "backends/cuda/kernels/Double.h"
#include "backends/cuda/kernels/RecurrenceCell.h"

namespace lstmc::gpu {

namespace {

template <typename V> LSTMC_DEVICE void forward(const CellForwardArguments &all) {
  const RnnForwardArguments &a = all.layer;
  const LayerShape &s = a.shape;
  for (int64_t i = globalThreadIndex(); i < all.count; i += gridThreads()) {
    const int64_t b = i / s.units, u = i % s.units;
    const bool counts = all.t < lengthOf(a.length, b, s.steps);
    Cell<V> cell = {};
    const V before = cell.h = loadOr0<V>(all.h, b, u);
    cell.c = loadOr0<V>(all.c, b, u);
    if (counts) {
      LSTMC_UNROLL
      for (int g = 0; g < kMaxGates; ++g)
        if (g < s.gates) {
          const int64_t gate = g * s.units + u;
          cell.input[g] = loadAt<V>(all.projected, all.t, b, gate);
          cell.recurrent[g] = loadOr0<V>(all.recurrent, b, gate);
          if (a.bi)
            cell.input[g] = cell.input[g] + loadAt<V>(a.bi, gate);
          if (a.bh)
            cell.recurrent[g] = cell.recurrent[g] + loadAt<V>(a.bh, gate);
        }
      cell.advance(s.mode);
    }
    storeStep(a, cell, before, counts, all.t, b, u);
    if (all.hNext)
      storeAt(all.hNext, cell.h, b, u);
    if (all.cNext)
      storeAt(all.cNext, cell.c, b, u);
  }
}

template <typename V> LSTMC_DEVICE void backward(const CellBackwardArguments &all) {
  const RnnBackwardArguments &a = all.layer;
  const LayerShape &s = a.shape;
  for (int64_t i = globalThreadIndex(); i < all.count; i += gridThreads()) {
    const int64_t b = i / s.units, u = i % s.units, end = lengthOf(a.length, b, s.steps);
    const bool first = all.previous < 0;
    V dh = first ? loadOr0<V>(a.dhN, b, u) : loadAt<V>(all.dh, b, u);
    V dc = first ? loadOr0<V>(a.dcN, b, u) : loadAt<V>(all.dc, b, u);
    if (!first && all.previous < end) {
      const V sum = loadAt<V>(all.sums, b, u);
      dh = s.mode == RnnMode::Gru ? sum + dh : sum;
    }
    if (all.t < 0) {
      if (a.dh0)
        storeAt(a.dh0, dh, b, u);
      if (a.dc0)
        storeAt(a.dc0, dc, b, u);
      continue;
    }
    const CellGradient<V> cell = gradientAt(a, all.t, b, u, end, dh, dc);
    storeAt(all.dh, all.t < end ? cell.direct : dh, b, u);
    storeAt(all.dc, all.t < end ? cell.dc : dc, b, u);
  }
}

} // namespace

LSTMC_GPU_KERNEL(lstmc_cell_forward_f32, CellForwardArguments, a) { forward<Float>(a); }
LSTMC_GPU_KERNEL(lstmc_cell_forward_f64, CellForwardArguments, a) { forward<Double>(a); }
LSTMC_GPU_KERNEL(lstmc_cell_backward_f32, CellBackwardArguments, a) { backward<Float>(a); }
LSTMC_GPU_KERNEL(lstmc_cell_backward_f64, CellBackwardArguments, a) { backward<Double>(a); }

} // namespace lstmc::gpu
