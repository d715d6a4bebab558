// Kernels that move elements without changing them.
#include <algorithm>

#include "executor/reference/Groups.h"
#include "executor/reference/View.h"

namespace lstmc::reference {

void runFill(const FillLaunch &launch) {
  const Tensor &y = launch.y;
  forEachIndex(y, y.rank, [&](const auto &index) {
    writeElement(y.data, y.dtype, offsetAt(y, index), launch.value);
  });
}

void runCopy(const CopyLaunch &launch) {
  const Tensor &x = launch.x, &y = launch.y;
  withBytes(x, [&](auto bits) {
    using T = decltype(bits);
    forEachIndex(y, y.rank, [&](const auto &index) {
      y.as<T>()[offsetAt(y, index)] = x.as<T>()[offsetAt(x, index)];
    });
  });
}

void runArange(const ArangeLaunch &launch) {
  const Tensor &y = launch.y;
  const int64_t repeat = launch.repeat;
  for (int64_t i = 0; i < y.shape[0]; ++i) {
    const int64_t number = i / repeat;
    writeElement(y.data, y.dtype, offsetOf(y, i), launch.start + double(number) * launch.step);
  }
}

void runGather(const GatherLaunch &launch) {
  const Tensor &w = launch.w, &indices = launch.indices, &y = launch.y;
  withBytes(w, [&](auto bits) {
    using T = decltype(bits);
    int64_t i = 0; // the indices as one flat list
    forEachIndex(indices, indices.rank, [&](const auto &at) {
      int64_t index = readElement<int64_t>(indices.data, indices.dtype, offsetAt(indices, at));
      int64_t row = inside(index, w.shape[1], launch.mode == IndexMode::Wrap);
      for (int64_t a = 0; a < y.shape[0]; ++a)
        for (int64_t d = 0; d < y.shape[2]; ++d)
          View<T>{y}(a, i, d) = View<T>{w}(a, row, d);
      ++i;
    });
  });
}

void runOneHot(const OneHotLaunch &launch) {
  const Tensor &indices = launch.indices, &y = launch.y;
  for (int64_t i = 0; i < y.shape[0]; ++i) {
    const int64_t index = indexAt(indices, i);
    for (int64_t c = 0; c < y.shape[1]; ++c)
      writeElement(y.data, y.dtype, offsetOf(y, i, c), c == index ? launch.on : launch.off);
  }
}

void runPick(const PickLaunch &launch) {
  const Tensor &x = launch.x, &indices = launch.indices, &y = launch.y;
  withBytes(x, [&](auto bits) {
    using T = decltype(bits);
    for (int64_t a = 0; a < y.shape[0]; ++a)
      for (int64_t d = 0; d < y.shape[1]; ++d) {
        const int64_t c = inside(indexAt(indices, a, d), x.shape[1], launch.wrap);
        View<T>{y}(a, d) = View<T>{x}(a, c, d);
      }
  });
}

void runPickGradient(const PickGradientLaunch &launch) {
  const Tensor &dy = launch.dy, &indices = launch.indices, &dx = launch.dx;
  withBytes(dx, [&](auto bits) {
    using T = decltype(bits);
    for (int64_t a = 0; a < dx.shape[0]; ++a)
      for (int64_t d = 0; d < dx.shape[2]; ++d) {
        const int64_t picked = inside(indexAt(indices, a, d), dx.shape[1], launch.wrap);
        for (int64_t c = 0; c < dx.shape[1]; ++c)
          View<T>{dx}(a, c, d) = c == picked ? View<T>{dy}(a, d) : T(0);
      }
  });
}

void runSequenceMask(const SequenceMaskLaunch &launch) {
  const Tensor &x = launch.x, &length = launch.length, &y = launch.y;
  withBytes(x, [&](auto bits) {
    using T = decltype(bits);
    for (int64_t t = 0; t < y.shape[0]; ++t)
      for (int64_t b = 0; b < y.shape[1]; ++b)
        for (int64_t d = 0; d < y.shape[2]; ++d)
          if (t < indexAt(length, b))
            View<T>{y}(t, b, d) = View<T>{x}(t, b, d);
          else
            writeElement(y.data, y.dtype, offsetOf(y, t, b, d), launch.value);
  });
}

/// Step length[b] - 1, clipped to the valid steps, because a length may be any number.
static int64_t lastStep(const Tensor &length, int64_t b, int64_t steps) {
  return inside(std::max<int64_t>(indexAt(length, b), 1) - 1, steps, false);
}

void runSequenceLast(const SequenceLastLaunch &launch) {
  const Tensor &x = launch.x, &length = launch.length, &y = launch.y;
  withBytes(x, [&](auto bits) {
    using T = decltype(bits);
    for (int64_t b = 0; b < y.shape[0]; ++b) {
      const int64_t last = lastStep(length, b, x.shape[0]);
      for (int64_t d = 0; d < y.shape[1]; ++d)
        View<T>{y}(b, d) = View<T>{x}(last, b, d);
    }
  });
}

void runSequenceLastGradient(const SequenceLastGradientLaunch &launch) {
  const Tensor &dy = launch.dy, &length = launch.length, &dx = launch.dx;
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

void runSequenceReverse(const SequenceReverseLaunch &launch) {
  const Tensor &x = launch.x, &length = launch.length, &y = launch.y;
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
