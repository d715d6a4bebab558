// Runs a kernel of a level as its workers would; without a barrier, one worker after the other.
#pragma once

#include <cstring>
#include <random>
#include <vector>

#include "backends/cpu/runtime/KernelTable.h"
#include "executor/base/FloatMode.h"
#include "executor/base/Numeric.h"
#include "executor/base/Tensor.h"
#include "executor/device/TeamMemory.h"

namespace lstmc::cpu::testing {

struct OneOf final : Worker {
  void barrier() override {}
};

inline const std::vector<Level> &levels() {
  static const std::vector<Level> kAll = [] {
    std::vector<Level> all;
    for (int l = 0; l <= int(machineLevel()); ++l)
      all.push_back(Level(l));
    return all;
  }();
  return kAll;
}

/// Runs the workers in turn: for kernels without a barrier.
inline void run(Level level, KernelId id, const LaunchArgs &args, int workers) {
  FloatMode mode;
  KernelFunction function = kernelTable(level).own(id);
  for (int w = 0; w < workers; ++w) {
    OneOf worker;
    const TeamMemory memory(1);
    const WithWorkerMemory use(memory);
    worker.index = w;
    worker.count = workers;
    function(args, worker);
  }
}

/// Dense memory of a type and shape, with views of it.
struct Block {
  DType dtype;
  std::vector<int64_t> shape;
  std::vector<char> bytes;

  Block(DType type, std::vector<int64_t> extents) : dtype(type), shape(std::move(extents)) {
    int64_t n = 1;
    for (int64_t e : shape)
      n *= e;
    bytes.resize(size_t(n) * dtypeBytes(type) + 64);
  }
  int64_t elements() const {
    int64_t n = 1;
    for (int64_t e : shape)
      n *= e;
    return n;
  }
  Tensor view() {
    Tensor t;
    t.data = bytes.data();
    t.dtype = dtype;
    t.rank = int(shape.size());
    int64_t step = 1;
    for (int d = t.rank - 1; d >= 0; --d) {
      t.shape[size_t(d)] = shape[size_t(d)];
      t.strides[size_t(d)] = step;
      step *= shape[size_t(d)];
    }
    return t;
  }
  template <typename T> T get(int64_t i) const { return readElement<T>(bytes.data(), dtype, i); }
  template <typename T> void set(int64_t i, T value) {
    writeElement(bytes.data(), dtype, i, value);
  }
  /// Numbers in [-range, range]; bools are 0 or 1.
  Block &randomise(uint32_t seed, double range = 3) {
    std::mt19937 random(seed);
    for (int64_t i = 0; i < elements(); ++i) {
      double x = (double(random()) * 0x1p-31 - 1) * range;
      if (dtype == DType::Bool)
        set(i, x > 0);
      else
        set(i, x);
    }
    return *this;
  }
};

inline Tensor transposed(Tensor t, int a, int b) {
  std::swap(t.shape[size_t(a)], t.shape[size_t(b)]);
  std::swap(t.strides[size_t(a)], t.strides[size_t(b)]);
  return t;
}

/// The same view, reversed along an axis.
inline Tensor reversed(Tensor t, int axis) {
  auto d = size_t(axis);
  t.data = t.as<char>() + (t.shape[d] - 1) * t.strides[d] * int64_t(dtypeBytes(t.dtype));
  t.strides[d] = -t.strides[d];
  return t;
}

/// The view with one axis repeated by stride 0.
inline Tensor broadcast(Tensor t, int axis, int64_t extent) {
  t.shape[size_t(axis)] = extent;
  t.strides[size_t(axis)] = 0;
  return t;
}

/// Offset of row-major position `at` in the view, in elements.
inline int64_t offsetOf(const Tensor &t, int64_t at) {
  int64_t offset = 0;
  for (int d = t.rank - 1; d >= 0; --d) {
    offset += at % t.shape[size_t(d)] * t.strides[size_t(d)];
    at /= t.shape[size_t(d)];
  }
  return offset;
}

} // namespace lstmc::cpu::testing
