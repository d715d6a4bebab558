// Kernels that move elements and change none.
#include <algorithm>

#include "executor/reference/Groups.h"
#include "executor/reference/View.h"

namespace lstmc::reference {

void runFill(const LaunchArgs &args) {
  const Tensor &y = args.operands[0];
  forEachIndex(y, y.rank, [&](const auto &index) {
    writeElement(y.data, y.dtype, offsetAt(y, index), args.floats[0]);
  });
}

void runCopy(const LaunchArgs &args) {
  const Tensor &x = args.operands[0], &y = args.operands[1];
  withBytes(x, [&](auto bits) {
    using T = decltype(bits);
    forEachIndex(y, y.rank, [&](const auto &index) {
      y.as<T>()[offsetAt(y, index)] = x.as<T>()[offsetAt(x, index)];
    });
  });
}

void runArange(const LaunchArgs &args) {
  const Tensor &y = args.operands[0];
  const int64_t repeat = args.ints[0];
  for (int64_t i = 0; i < y.shape[0]; ++i)
    writeElement(y.data, y.dtype, offsetOf(y, i),
                 args.floats[0] + double(i / repeat) * args.floats[1]);
}

void runGather(const LaunchArgs &args) {
  const Tensor &w = args.operands[0], &indices = args.operands[1], &y = args.operands[2];
  withBytes(w, [&](auto bits) {
    using T = decltype(bits);
    int64_t i = 0; // the indices flattened
    forEachIndex(indices, indices.rank, [&](const auto &at) {
      int64_t index = readElement<int64_t>(indices.data, indices.dtype, offsetAt(indices, at));
      int64_t row = inside(index, w.shape[1], args.ints[0] != 0);
      for (int64_t a = 0; a < y.shape[0]; ++a)
        for (int64_t d = 0; d < y.shape[2]; ++d)
          View<T>{y}(a, i, d) = View<T>{w}(a, row, d);
      ++i;
    });
  });
}

void runOneHot(const LaunchArgs &args) {
  const Tensor &indices = args.operands[0], &y = args.operands[1];
  for (int64_t i = 0; i < y.shape[0]; ++i) {
    const int64_t index = indexAt(indices, i);
    for (int64_t c = 0; c < y.shape[1]; ++c)
      writeElement(y.data, y.dtype, offsetOf(y, i, c),
                   c == index ? args.floats[0] : args.floats[1]);
  }
}

void runPick(const LaunchArgs &args) {
  const Tensor &x = args.operands[0], &indices = args.operands[1], &y = args.operands[2];
  withBytes(x, [&](auto bits) {
    using T = decltype(bits);
    for (int64_t a = 0; a < y.shape[0]; ++a)
      for (int64_t d = 0; d < y.shape[1]; ++d) {
        const int64_t c = inside(indexAt(indices, a, d), x.shape[1], args.ints[0] != 0);
        View<T>{y}(a, d) = View<T>{x}(a, c, d);
      }
  });
}

void runPickGradient(const LaunchArgs &args) {
  const Tensor &dy = args.operands[0], &indices = args.operands[1], &dx = args.operands[2];
  withBytes(dx, [&](auto bits) {
    using T = decltype(bits);
    for (int64_t a = 0; a < dx.shape[0]; ++a)
      for (int64_t d = 0; d < dx.shape[2]; ++d) {
        const int64_t picked = inside(indexAt(indices, a, d), dx.shape[1], args.ints[0] != 0);
        for (int64_t c = 0; c < dx.shape[1]; ++c)
          View<T>{dx}(a, c, d) = c == picked ? View<T>{dy}(a, d) : T(0);
      }
  });
}

void runSequenceMask(const LaunchArgs &args) {
  const Tensor &x = args.operands[0], &length = args.operands[1], &y = args.operands[2];
  withBytes(x, [&](auto bits) {
    using T = decltype(bits);
    for (int64_t t = 0; t < y.shape[0]; ++t)
      for (int64_t b = 0; b < y.shape[1]; ++b)
        for (int64_t d = 0; d < y.shape[2]; ++d)
          if (t < indexAt(length, b))
            View<T>{y}(t, b, d) = View<T>{x}(t, b, d);
          else
            writeElement(y.data, y.dtype, offsetOf(y, t, b, d), args.floats[0]);
  });
}

/// Step length[b] - 1, clipped to those there are; any number may stand there.
static int64_t lastStep(const Tensor &length, int64_t b, int64_t steps) {
  return inside(std::max<int64_t>(indexAt(length, b), 1) - 1, steps, false);
}

void runSequenceLast(const LaunchArgs &args) {
  const Tensor &x = args.operands[0], &length = args.operands[1], &y = args.operands[2];
  withBytes(x, [&](auto bits) {
    using T = decltype(bits);
    for (int64_t b = 0; b < y.shape[0]; ++b) {
      const int64_t last = lastStep(length, b, x.shape[0]);
      for (int64_t d = 0; d < y.shape[1]; ++d)
        View<T>{y}(b, d) = View<T>{x}(last, b, d);
    }
  });
}

void runSequenceLastGradient(const LaunchArgs &args) {
  const Tensor &dy = args.operands[0], &length = args.operands[1], &dx = args.operands[2];
  withBytes(dx, [&](auto bits) {
    using T = decltype(bits);
    for (int64_t b = 0; b < dx.shape[1]; ++b) {
      const int64_t last = lastStep(length, b, dx.shape[0]);
      for (int64_t t = 0; t < dx.shape[0]; ++t)
        for (int64_t d = 0; d < dx.shape[2]; ++d)
          View<T>{dx}(t, b, d) = t == last ? View<T>{dy}(b, d) : T(0);
    }
  });
}

void runSequenceReverse(const LaunchArgs &args) {
  const Tensor &x = args.operands[0], &length = args.operands[1], &y = args.operands[2];
  withBytes(x, [&](auto bits) {
    using T = decltype(bits);
    const int64_t steps = y.shape[0];
    for (int64_t b = 0; b < y.shape[1]; ++b) {
      const int64_t end = std::min(indexAt(length, b), steps);
      for (int64_t t = 0; t < steps; ++t)
        for (int64_t d = 0; d < y.shape[2]; ++d)
          View<T>{y}(t, b, d) = View<T>{x}(t < end ? end - 1 - t : t, b, d);
    }
  });
}

} // namespace lstmc::reference
