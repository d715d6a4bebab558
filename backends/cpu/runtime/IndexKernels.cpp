// Kernels that move rows from or to positions given by indices and lengths.
#include "backends/cpu/runtime/KernelTable.h"
#include "backends/cpu/runtime/RowMoves.h"
#include "backends/cpu/runtime/StridedWalk.h"
#include "backends/cpu/runtime/TileCopy.h"

namespace lstmc::cpu::LSTMC_CPU_NAMESPACE {

namespace {

/// A tensor of indices or lengths, read by flat position.
struct Indices {
  ReadIndex read;
  const void *data;
  explicit Indices(const Tensor &t) : read(readIndex(t.dtype)), data(t.data) {}
  int64_t operator[](int64_t offset) const { return read(data, offset); }
};

/// Brings an index into [0, extent): the nearest valid one, or the index modulo the extent.
int64_t bring(int64_t index, int64_t extent, bool wrap) {
  if (wrap) {
    index %= extent;
    return index < 0 ? index + extent : index;
  }
  return index < 0 ? 0 : index >= extent ? extent - 1 : index;
}

void gather(const GatherLaunch &launch, Worker &worker) {
  const Tensor &w = launch.w, &indices = launch.indices, &y = launch.y;
  bool wrap = launch.mode == IndexMode::Wrap;
  int64_t outer = w.shape[0], rows = w.shape[1], width = w.shape[2];
  const Tensor *views[1] = {&indices};
  StridedWalk<1> walk(views, false);
  if (walk.total == 0 || rows == 0)
    return;
  Indices index(indices);
  withBits(w.dtype, [&](auto bits) {
    using T = decltype(bits);
    Share share(walk.total, worker.index, worker.count);
    int64_t i = share.begin;
    walk.positions(walk.rank, share.begin, share.end, [&](const int64_t *offsets) {
      int64_t row = bring(index[offsets[0]], rows, wrap);
      for (int64_t a = 0; a < outer; ++a)
        copyRow(y.as<T>() + a * y.strides[0] + i * y.strides[1], y.strides[2],
                w.as<const T>() + a * w.strides[0] + row * w.strides[1], w.strides[2], width);
      ++i;
    });
  });
}

void oneHot(const OneHotLaunch &launch, Worker &worker) {
  const Tensor &indices = launch.indices, &y = launch.y;
  Indices index(indices);
  int64_t depth = y.shape[1];
  withBits(y.dtype, [&](auto bits) {
    using T = decltype(bits);
    T on = constantOf<T>(y.dtype, launch.on), off = constantOf<T>(y.dtype, launch.off);
    Share share(y.shape[0], worker.index, worker.count);
    for (int64_t i = share.begin; i < share.end && !endsBefore(i); ++i) {
      T *row = y.as<T>() + i * y.strides[0];
      fillRow(row, y.strides[1], off, depth);
      int64_t at = index[i * indices.strides[0]];
      if (at >= 0 && at < depth)
        row[at * y.strides[1]] = on;
    }
  });
}

void pick(const PickLaunch &launch, Worker &worker) {
  const Tensor &x = launch.x, &indices = launch.indices, &y = launch.y;
  bool wrap = launch.wrap;
  int64_t classes = x.shape[1], width = x.shape[2];
  Indices index(indices);
  withBits(x.dtype, [&](auto bits) {
    using T = decltype(bits);
    Share share(x.shape[0] * width, worker.index, worker.count);
    for (int64_t i = share.begin; i < share.end && !endsBefore(i); ++i) {
      int64_t a = i / width, d = i % width;
      int64_t c = bring(index[a * indices.strides[0] + d * indices.strides[1]], classes, wrap);
      y.as<T>()[a * y.strides[0] + d * y.strides[1]] =
          x.as<const T>()[a * x.strides[0] + c * x.strides[1] + d * x.strides[2]];
    }
  });
}

void pickGradient(const PickGradientLaunch &launch, Worker &worker) {
  const Tensor &dy = launch.dy, &indices = launch.indices, &dx = launch.dx;
  bool wrap = launch.wrap;
  int64_t classes = dx.shape[1], width = dx.shape[2];
  Indices index(indices);
  withBits(dx.dtype, [&](auto bits) {
    using T = decltype(bits);
    Share share(dx.shape[0], worker.index, worker.count);
    for (int64_t a = share.begin; a < share.end && !stopAsked(); ++a) {
      T *block = dx.as<T>() + a * dx.strides[0];
      for (int64_t c = 0; c < classes; ++c)
        fillRow(block + c * dx.strides[1], dx.strides[2], T(0), width);
      for (int64_t d = 0; d < width; ++d) {
        int64_t c = bring(index[a * indices.strides[0] + d * indices.strides[1]], classes, wrap);
        block[c * dx.strides[1] + d * dx.strides[2]] =
            dy.as<const T>()[a * dy.strides[0] + d * dy.strides[1]];
      }
    }
  });
}

/// Calls f(t, b, offset) for this worker's rows [T, B] of a view [T, B, D].
template <typename F> void eachRow(const Tensor &view, Worker &worker, F f) {
  int64_t batch = view.shape[1];
  Share share(view.shape[0] * batch, worker.index, worker.count);
  for (int64_t i = share.begin; i < share.end && !stopAsked(); ++i)
    f(i / batch, i % batch, i / batch * view.strides[0] + i % batch * view.strides[1]);
}

void sequenceMask(const SequenceMaskLaunch &launch, Worker &worker) {
  const Tensor &x = launch.x, &lengths = launch.length, &y = launch.y;
  Indices length(lengths);
  bool same = x.data == y.data;
  withBits(y.dtype, [&](auto bits) {
    using T = decltype(bits);
    T value = constantOf<T>(y.dtype, launch.value);
    eachRow(y, worker, [&](int64_t t, int64_t b, int64_t offset) {
      T *to = y.as<T>() + offset;
      if (t >= length[b * lengths.strides[0]])
        fillRow(to, y.strides[2], value, y.shape[2]);
      else if (!same)
        copyRow(to, y.strides[2], x.as<const T>() + t * x.strides[0] + b * x.strides[1],
                x.strides[2], y.shape[2]);
    });
  });
}

void sequenceLast(const SequenceLastLaunch &launch, Worker &worker) {
  const Tensor &x = launch.x, &lengths = launch.length, &y = launch.y;
  Indices length(lengths);
  withBits(x.dtype, [&](auto bits) {
    using T = decltype(bits);
    Share share(x.shape[1], worker.index, worker.count);
    for (int64_t b = share.begin; b < share.end && !stopAsked(); ++b) {
      int64_t t = bring(length[b * lengths.strides[0]], x.shape[0] + 1, false) - 1;
      t = t < 0 ? 0 : t;
      copyRow(y.as<T>() + b * y.strides[0], y.strides[1],
              x.as<const T>() + t * x.strides[0] + b * x.strides[1], x.strides[2], x.shape[2]);
    }
  });
}

void sequenceLastGradient(const SequenceLastGradientLaunch &launch, Worker &worker) {
  const Tensor &dy = launch.dy, &lengths = launch.length, &dx = launch.dx;
  Indices length(lengths);
  withBits(dx.dtype, [&](auto bits) {
    using T = decltype(bits);
    eachRow(dx, worker, [&](int64_t t, int64_t b, int64_t offset) {
      int64_t last = bring(length[b * lengths.strides[0]], dx.shape[0] + 1, false) - 1;
      T *to = dx.as<T>() + offset;
      if (t == (last < 0 ? 0 : last))
        copyRow(to, dx.strides[2], dy.as<const T>() + b * dy.strides[0], dy.strides[1],
                dx.shape[2]);
      else
        fillRow(to, dx.strides[2], T(0), dx.shape[2]);
    });
  });
}

void sequenceReverse(const SequenceReverseLaunch &launch, Worker &worker) {
  const Tensor &x = launch.x, &lengths = launch.length, &y = launch.y;
  Indices length(lengths);
  withBits(y.dtype, [&](auto bits) {
    using T = decltype(bits);
    eachRow(y, worker, [&](int64_t t, int64_t b, int64_t offset) {
      int64_t steps = bring(length[b * lengths.strides[0]], x.shape[0] + 1, false);
      int64_t source = t < steps ? steps - 1 - t : t;
      copyRow(y.as<T>() + offset, y.strides[2],
              x.as<const T>() + source * x.strides[0] + b * x.strides[1], x.strides[2], y.shape[2]);
    });
  });
}

} // namespace

void registerIndexKernels(KernelTable &table) {
  constexpr auto kAny = KernelTable::Types::Any;
  table.set<gather>(kAny);
  table.set<oneHot>(kAny);
  table.set<pick>(kAny);
  table.set<pickGradient>(kAny);
  table.set<sequenceMask>(kAny);
  table.set<sequenceLast>(kAny);
  table.set<sequenceLastGradient>(kAny);
  table.set<sequenceReverse>(kAny);
}

} // namespace lstmc::cpu::LSTMC_CPU_NAMESPACE
