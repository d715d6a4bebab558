// Vectors of [T, B, *] operands, whatever their last stride.
#pragma once

#include "backends/cpu/runtime/Vector.h"
#include "executor/base/Tensor.h"

namespace lstmc::cpu::LSTMC_CPU_NAMESPACE {

/// Elements (t, b, u) to (t, b, u + count - 1) of `to`; count may exceed the width.
LSTMC_INLINE void putRow(const Tensor &to, int64_t t, int64_t b, int64_t u, int64_t count,
                         Vector value) {
  float *row = to.as<float>() + t * to.strides[0] + b * to.strides[1];
  if (to.strides[2] == 1) {
    if (count >= kWidth)
      value.store(row + u);
    else
      value.store(row + u, Vector::firstLanes(count));
    return;
  }
  float lanes[kWidth];
  value.store(lanes);
  for (int64_t i = 0; i < kWidth && i < count; ++i)
    row[(u + i) * to.strides[2]] = lanes[i];
}

/// The same elements as a vector; lanes beyond `count` are 0.
LSTMC_INLINE Vector getRow(const Tensor &from, int64_t t, int64_t b, int64_t u, int64_t count) {
  const float *row = from.as<float>() + t * from.strides[0] + b * from.strides[1];
  if (from.strides[2] == 1)
    return count >= kWidth ? Vector::load(row + u)
                           : Vector::load(row + u, Vector::firstLanes(count));
  float lanes[kWidth] = {};
  for (int64_t i = 0; i < kWidth && i < count; ++i)
    lanes[i] = row[(u + i) * from.strides[2]];
  return Vector::load(lanes);
}

/// Elements u to u + count - 1 of a vector, of any stride; lanes beyond `count` are 0.
LSTMC_INLINE Vector getVector(const Tensor &from, int64_t u, int64_t count) {
  Tensor rows = from;
  rows.strides[2] = from.strides[0];
  rows.strides[0] = rows.strides[1] = 0;
  return getRow(rows, 0, 0, u, count);
}

} // namespace lstmc::cpu::LSTMC_CPU_NAMESPACE
