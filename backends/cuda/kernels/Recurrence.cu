#include "backends/cuda/kernels/Recurrence.h"

#include "backends/cuda/kernels/Double.h"
#include "backends/cuda/kernels/RecurrenceCell.h"

namespace lstmc::gpu {

namespace {

/// Adds W x and R h of one unit at step t, k ascending, for the rows whose sequence has it.
template <typename V, int rows>
LSTMC_DEVICE void addProducts(const RnnForwardArguments &a, int64_t t, int64_t first,
                              const int64_t (&length)[rows], int u, const SharedValues<V> &h,
                              Cell<V> (&cell)[rows]) {
  using T = typename V::Stored;
  const LayerShape &s = a.shape;
  const int units = int(s.units);
  const auto w = a.w.as<const T>(), r = a.r.as<const T>();
  for (int64_t k = 0; k < s.inputs; ++k)
    for (int g = 0; g < kMaxGates; ++g)
      if (g < s.gates) {
        const V weight = {w.load(packedAt(u, k, s.inputs, g, s.gates))};
        for (int row = 0; row < rows; ++row)
          if (t < length[row])
            cell[row].input[g] =
                multiplyAdd(loadAt<V>(a.x, t, first + row, k), weight, cell[row].input[g]);
      }
  for (int k = 0; k < units; ++k)
    for (int g = 0; g < kMaxGates; ++g)
      if (g < s.gates) {
        const V weight = {r.load(packedAt(u, k, units, g, s.gates))};
        for (int row = 0; row < rows; ++row)
          if (t < length[row])
            cell[row].recurrent[g] =
                multiplyAdd(h.load(row * units + k), weight, cell[row].recurrent[g]);
      }
}

template <typename V, int rows> LSTMC_DEVICE void forward(const RnnForwardArguments &a) {
  const LayerShape &s = a.shape;
  int64_t first = blockIndex() * rows;
  int units = int(s.units), count = int(s.batch - first < rows ? s.batch - first : rows);
  const SharedValues<V> h[2] = {sharedValues<V>(0, rows * units),
                                sharedValues<V>(rows * units, rows * units)};
  const SharedValues<V> c = sharedValues<V>(2 * rows * units, rows * units);
  for (int i = threadIndex(); i < count * units; i += blockThreads()) {
    h[0].store(i, loadOr0<V>(a.h0, first + i / units, i % units));
    c.store(i, loadOr0<V>(a.c0, first + i / units, i % units));
  }
  int64_t length[rows];
  for (int row = 0; row < rows; ++row)
    length[row] = row < count ? lengthOf(a.length, first + row, s.steps) : 0;
  syncThreads();

  for (int64_t index = 0; index < s.steps; ++index) {
    int64_t t = s.step(index);
    const SharedValues<V> now = h[index % 2], next = h[(index + 1) % 2];
    for (int u = threadIndex(); u < units; u += blockThreads()) {
      Cell<V> cell[rows];
      for (int row = 0; row < rows; ++row)
        for (int g = 0; g < kMaxGates; ++g)
          cell[row].input[g] = cell[row].recurrent[g] = cell[row].gate[g] = V{0};
      addProducts<V, rows>(a, t, first, length, u, now, cell);
      for (int row = 0; row < rows; ++row) {
        if (row >= count)
          continue;
        int64_t b = first + row;
        Cell<V> &unit = cell[row];
        bool counts = t < length[row];
        unit.h = now.load(row * units + u);
        unit.c = c.load(row * units + u);
        if (a.before)
          storeAt(a.before, unit.h, t, b, u);
        if (counts) {
          for (int g = 0; g < kMaxGates; ++g)
            if (g < s.gates) {
              if constexpr (sizeof(V) == sizeof(float))
                if (a.projected)
                  unit.input[g] = loadAt<V>(a.projected, t, b, g * s.units + u);
              if (a.bi)
                unit.input[g] = unit.input[g] + loadAt<V>(a.bi, g * s.units + u);
              if (a.bh)
                unit.recurrent[g] = unit.recurrent[g] + loadAt<V>(a.bh, g * s.units + u);
            }
          unit.advance(s.mode);
        }
        next.store(row * units + u, unit.h);
        c.store(row * units + u, unit.c);
        storeAt(a.y, counts ? unit.h : V{0}, t, b, u);
        for (int g = 0; g < kMaxGates; ++g)
          if (a.gates && g < s.gates)
            storeAt(a.gates, unit.gate[g], t, b, g * s.units + u);
        if (a.cells)
          storeAt(a.cells,
                  s.mode == RnnMode::Lstm ? unit.c
                                          : unit.recurrent[s.mode == RnnMode::Gru ? kGateN : 0],
                  t, b, u);
      }
    }
    syncThreads();
  }

  const SharedValues<V> last = h[s.steps % 2];
  for (int i = threadIndex(); i < count * units; i += blockThreads()) {
    if (a.hN)
      storeAt(a.hN, last.load(i), first + i / units, i % units);
    if (a.cN)
      storeAt(a.cN, c.load(i), first + i / units, i % units);
  }
}

template <typename V, int rows> LSTMC_DEVICE void backward(const RnnBackwardArguments &a) {
  const LayerShape &s = a.shape;
  int64_t first = blockIndex() * rows;
  int units = int(s.units), wide = units * s.gates;
  int count = int(s.batch - first < rows ? s.batch - first : rows);
  const SharedValues<V> dh = sharedValues<V>(0, rows * units),
                        dc = sharedValues<V>(rows * units, rows * units),
                        hidden = sharedValues<V>(2 * rows * units, rows * wide);
  for (int i = threadIndex(); i < count * units; i += blockThreads()) {
    dh.store(i, loadOr0<V>(a.dhN, first + i / units, i % units));
    dc.store(i, loadOr0<V>(a.dcN, first + i / units, i % units));
  }
  int64_t length[rows];
  for (int row = 0; row < rows; ++row)
    length[row] = row < count ? lengthOf(a.length, first + row, s.steps) : 0;
  syncThreads();

  const bool gru = s.mode == RnnMode::Gru;
  for (int64_t index = s.steps - 1; index >= 0; --index) {
    int64_t t = s.step(index);
    for (int i = threadIndex(); i < count * units; i += blockThreads()) {
      int row = i / units, u = i % units;
      int64_t b = first + row, end = lengthOf(a.length, b, s.steps);
      const CellGradient<V> cell = gradientAt(a, t, b, u, end, dh.load(i), dc.load(i));
      if (t < end) {
        dh.store(i, cell.direct);
        dc.store(i, cell.dc);
      }
      for (int g = 0; g < kMaxGates; ++g)
        if (g < s.gates)
          hidden.store(row * wide + g * units + u, cell.recurrent[g]);
    }
    syncThreads();
    for (int u = threadIndex(); u < units; u += blockThreads()) {
      V sum[rows];
      for (int row = 0; row < rows; ++row)
        sum[row] = V{0};
      const auto rt = a.rt.as<const typename V::Stored>();
      for (int k = 0; k < wide; ++k) {
        const V weight = {rt.load(packedAt(u, k, wide, 0, 1))};
        for (int row = 0; row < rows; ++row)
          if (row < count)
            sum[row] = multiplyAdd(hidden.load(row * wide + k), weight, sum[row]);
      }
      for (int row = 0; row < rows; ++row)
        if (row < count && t < length[row])
          dh.store(row * units + u, gru ? sum[row] + dh.load(row * units + u) : sum[row]);
    }
    syncThreads();
  }

  for (int i = threadIndex(); i < count * units; i += blockThreads()) {
    if (a.dh0)
      storeAt(a.dh0, dh.load(i), first + i / units, i % units);
    if (a.dc0)
      storeAt(a.dc0, dc.load(i), first + i / units, i % units);
  }
}

} // namespace

LSTMC_GPU_KERNEL(lstmc_rnn_forward_1_f32, RnnForwardArguments, a) { forward<Float, 1>(a); }
LSTMC_GPU_KERNEL(lstmc_rnn_forward_4_f32, RnnForwardArguments, a) { forward<Float, 4>(a); }
LSTMC_GPU_KERNEL(lstmc_rnn_forward_1_f64, RnnForwardArguments, a) { forward<Double, 1>(a); }
LSTMC_GPU_KERNEL(lstmc_rnn_forward_4_f64, RnnForwardArguments, a) { forward<Double, 4>(a); }
LSTMC_GPU_KERNEL(lstmc_rnn_backward_1_f32, RnnBackwardArguments, a) { backward<Float, 1>(a); }
LSTMC_GPU_KERNEL(lstmc_rnn_backward_4_f32, RnnBackwardArguments, a) { backward<Float, 4>(a); }
LSTMC_GPU_KERNEL(lstmc_rnn_backward_1_f64, RnnBackwardArguments, a) { backward<Double, 1>(a); }
LSTMC_GPU_KERNEL(lstmc_rnn_backward_4_f64, RnnBackwardArguments, a) { backward<Double, 4>(a); }

} // namespace lstmc::gpu
