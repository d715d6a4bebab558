#include "backends/cuda/kernels/RecurrenceOnChip.h"

#include "backends/cuda/kernels/RecurrenceCell.h"

namespace lstmc::gpu {

namespace {

/// The share of a block, and where things are in its shared memory. A column is a gate of one of
/// its units.
template <typename V, int rows> struct Share {
  const RnnForwardArguments &a;
  int units, gates, inputs;
  int first, own;      ///< units of the block
  int columns, stride; ///< of this block, and of the largest
  int64_t row;         ///< the first sequence of the cluster
  int count;           ///< of its sequences
  bool keepsInputs;
  SharedValues<V> r, w, h[2], c, z[2]; ///< z: W x and R h

  LSTMC_DEVICE explicit Share(const RnnForwardOnChipArguments &on) : a(on.layer) {
    const LayerShape &s = a.shape;
    units = int(s.units);
    gates = s.gates;
    inputs = int(s.inputs);
    keepsInputs = on.chip.keepsInputs;
    first = clusterRank() * on.chip.share;
    const int left = units - first;
    own = left < 0 ? 0 : left < on.chip.share ? left : on.chip.share;
    columns = own * gates;
    stride = on.chip.share * gates;
    row = blockIndex() / clusterBlocks() * rows;
    count = int(s.batch - row < rows ? s.batch - row : rows);
    int at = 0;
    auto place = [&](int numbers) {
      const SharedValues<V> values = sharedValues<V>(at, numbers);
      at += numbers;
      return values;
    };
    r = place(units * stride);
    w = place(keepsInputs ? inputs * stride : 0);
    for (SharedValues<V> &each : h)
      each = place(units * rows);
    c = place(on.chip.share * rows);
    for (SharedValues<V> &each : z)
      each = place(stride * rows);
  }

  /// Weight k of a column, from memory.
  LSTMC_DEVICE V weight(const Sequence &matrix, int64_t k, int64_t depth, int column) const {
    return {matrix.as<const typename V::Stored>().load(
        packedAt(first + column / gates, k, depth, column % gates, gates))};
  }
  LSTMC_DEVICE void keep(const Sequence &matrix, int depth, const SharedValues<V> &kept) const {
    for (int i = threadIndex(); i < depth * columns; i += blockThreads())
      kept.store(i / columns * stride + i % columns,
                 weight(matrix, i / columns, depth, i % columns));
  }

  LSTMC_DEVICE void begin() const {
    keep(a.r, units, r);
    if (keepsInputs)
      keep(a.w, inputs, w);
    for (int i = threadIndex(); i < units * rows; i += blockThreads()) {
      const bool there = i % rows < count;
      h[0].store(i, there ? loadOr0<V>(a.h0, row + i % rows, i / rows) : V{0});
      h[1].store(i, V{0});
    }
    for (int i = threadIndex(); i < own * rows; i += blockThreads())
      c.store(i, i % rows < count ? loadOr0<V>(a.c0, row + i % rows, first + i / rows) : V{0});
    syncCluster();
  }

  /// W x of a column for z: made by a product, or here, k ascending. If a sum begins with what a
  /// product made, g++ 12 ends with an internal error, so the two are apart.
  LSTMC_DEVICE void multiplyInputs(int64_t t, int column) const {
    const int64_t place = int64_t(column % gates) * units + first + column / gates;
    V sum[rows];
    for (int i = 0; i < rows; ++i)
      sum[i] = V{0};
    for (int k = 0; k < inputs; ++k) {
      const V value = keepsInputs ? w.load(k * stride + column) : weight(a.w, k, inputs, column);
      for (int i = 0; i < rows; ++i)
        if (i < count)
          sum[i] = multiplyAdd(loadAt<V>(a.x, t, row + i, k), value, sum[i]);
    }
    for (int i = 0; i < rows; ++i)
      if (a.projected && i < count)
        z[0].store(i * stride + column, loadAt<V>(a.projected, t, row + i, place));
      else
        z[0].store(i * stride + column, sum[i]);
  }

  /// R h of a column, k ascending, for z.
  LSTMC_DEVICE void multiplyState(const SharedValues<V> &now, int column) const {
    V sum[rows];
    for (int i = 0; i < rows; ++i)
      sum[i] = V{0};
    for (int k = 0; k < units; ++k) {
      const V value = r.load(k * stride + column);
      for (int i = 0; i < rows; ++i)
        sum[i] = multiplyAdd(now.load(k * rows + i), value, sum[i]);
    }
    for (int i = 0; i < rows; ++i)
      z[1].store(i * stride + column, sum[i]);
  }

  /// W x and R h of every column.
  LSTMC_DEVICE void multiply(int64_t t, const SharedValues<V> &now) const {
    for (int column = threadIndex(); column < columns; column += blockThreads()) {
      multiplyInputs(t, column);
      multiplyState(now, column);
    }
  }

  /// The cell of unit u, of sequence i, at step t. Returns h.
  LSTMC_DEVICE V advance(int64_t t, int i, int u, bool counts, V before) const {
    const LayerShape &s = a.shape;
    const int64_t b = row + i, unit = first + u;
    Cell<V> cell = {};
    cell.h = before;
    cell.c = c.load(u * rows + i);
    if (counts) {
      for (int g = 0; g < kMaxGates; ++g)
        if (g < gates) {
          cell.input[g] = z[0].load(i * stride + u * gates + g);
          cell.recurrent[g] = z[1].load(i * stride + u * gates + g);
          if (a.bi)
            cell.input[g] = cell.input[g] + loadAt<V>(a.bi, g * s.units + unit);
          if (a.bh)
            cell.recurrent[g] = cell.recurrent[g] + loadAt<V>(a.bh, g * s.units + unit);
        }
      cell.advance(s.mode);
    }
    c.store(u * rows + i, cell.c);
    if (a.before)
      storeAt(a.before, before, t, b, unit);
    storeAt(a.y, counts ? cell.h : V{0}, t, b, unit);
    for (int g = 0; g < kMaxGates; ++g)
      if (a.gates && g < gates)
        storeAt(a.gates, cell.gate[g], t, b, g * s.units + unit);
    if (a.cells)
      storeAt(a.cells,
              s.mode == RnnMode::Lstm ? cell.c
                                      : cell.recurrent[s.mode == RnnMode::Gru ? kGateN : 0],
              t, b, unit);
    return cell.h;
  }
};

template <typename V, int rows>
LSTMC_DEVICE void forwardOnChip(const RnnForwardOnChipArguments &on) {
  const Share<V, rows> share(on);
  const RnnForwardArguments &a = on.layer;
  const LayerShape &s = a.shape;
  int64_t length[rows], longest = 0;
  for (int i = 0; i < rows; ++i) {
    length[i] = i < share.count ? lengthOf(a.length, share.row + i, s.steps) : 0;
    longest = longest < length[i] ? length[i] : longest;
  }
  share.begin();
  for (int64_t index = 0; index < s.steps; ++index) {
    const int64_t t = s.step(index);
    const SharedValues<V> &now = share.h[index % 2], &next = share.h[(index + 1) % 2];
    if (t < longest)
      share.multiply(t, now);
    syncThreads();
    // Neighbours have neighbouring units, which are neighbours in memory.
    for (int i = 0; i < rows; ++i)
      for (int u = threadIndex(); u < share.own; u += blockThreads())
        if (i < share.count) {
          const int place = (share.first + u) * rows + i;
          const V h = share.advance(t, i, u, t < length[i], now.load(place));
          for (int block = 0; block < clusterBlocks(); ++block)
            next.numbers.storeTo(block, place, h.v);
        }
    syncCluster();
  }
  const SharedValues<V> &last = share.h[s.steps % 2];
  for (int i = threadIndex(); i < share.own * share.count; i += blockThreads()) {
    const int u = i % share.own, sequence = i / share.own;
    if (a.hN)
      storeAt(a.hN, last.load((share.first + u) * rows + sequence), share.row + sequence,
              share.first + u);
    if (a.cN)
      storeAt(a.cN, share.c.load(u * rows + sequence), share.row + sequence, share.first + u);
  }
}

} // namespace

LSTMC_GPU_KERNEL(lstmc_rnn_forward_on_chip_1_f32, RnnForwardOnChipArguments, a) {
  forwardOnChip<Float, 1>(a);
}
LSTMC_GPU_KERNEL(lstmc_rnn_forward_on_chip_4_f32, RnnForwardOnChipArguments, a) {
  forwardOnChip<Float, 4>(a);
}

} // namespace lstmc::gpu
