// Vectors of [T, B, *] operands with any last stride.
#pragma once

#include "backends/cpu/runtime/Vector.h"
#include "executor/base/Tensor.h"

namespace lstmc::cpu::LSTMC_CPU_NAMESPACE {

/// `count` elements from `row`, `stride` apart; lanes from `count` on are 0.
LSTMC_INLINE Vector getStrided(const float *row, int64_t stride, int64_t count) {
  if (stride == 1)
    return count >= kWidth ? Vector::load(row) : Vector::load(row, Vector::firstLanes(count));
  float lanes[kWidth] = {};
  for (int64_t i = 0; i < kWidth && i < count; ++i)
    lanes[i] = row[i * stride];
  return Vector::load(lanes);
}

/// Writes the first `count` lanes of `value` to the place where getStrided would read them.
LSTMC_INLINE void putStrided(float *row, int64_t stride, int64_t count, Vector value) {
  if (stride == 1)
    return count >= kWidth ? value.store(row) : value.store(row, Vector::firstLanes(count));
  float lanes[kWidth];
  value.store(lanes);
  for (int64_t i = 0; i < kWidth && i < count; ++i)
    row[i * stride] = lanes[i];
}

/// Elements (t, b, u) to (t, b, u + count - 1) of a value [T, B, *].
LSTMC_INLINE void putRow(const Tensor &to, int64_t t, int64_t b, int64_t u, int64_t count,
                         Vector value) {
  putStrided(to.as<float>() + t * to.strides[0] + b * to.strides[1] + u * to.strides[2],
             to.strides[2], count, value);
}
LSTMC_INLINE Vector getRow(const Tensor &from, int64_t t, int64_t b, int64_t u, int64_t count) {
  return getStrided(from.as<float>() + t * from.strides[0] + b * from.strides[1] +
                        u * from.strides[2],
                    from.strides[2], count);
}

/// Elements (b, u) to (b, u + count - 1) of a state [B, H]; +0 if it is absent.
LSTMC_INLINE void putState(const Tensor &to, int64_t b, int64_t u, int64_t count, Vector value) {
  putStrided(to.as<float>() + b * to.strides[0] + u * to.strides[1], to.strides[1], count, value);
}
LSTMC_INLINE Vector getState(const Tensor &from, int64_t b, int64_t u, int64_t count) {
  return !from ? Vector::zero()
               : getStrided(from.as<float>() + b * from.strides[0] + u * from.strides[1],
                            from.strides[1], count);
}

/// Elements u to u + count - 1 of a vector.
LSTMC_INLINE Vector getVector(const Tensor &from, int64_t u, int64_t count) {
  return getStrided(from.as<float>() + u * from.strides[0], from.strides[0], count);
}

} // namespace lstmc::cpu::LSTMC_CPU_NAMESPACE
