// Moves rows of elements of any type as bits. Compiled once per level.
#pragma once

#include <cstring>

#include "backends/cpu/runtime/TileCopy.h"
#include "backends/cpu/runtime/Vector.h"
#include "executor/base/Tensor.h"

namespace lstmc::cpu::LSTMC_CPU_NAMESPACE {

template <typename T>
void copyRow(T *to, int64_t toStep, const T *from, int64_t fromStep, int64_t count) {
  if (toStep == 1 && fromStep == 1)
    std::memcpy(to, from, size_t(count) * sizeof(T));
  else
    for (int64_t i = 0; i < count; ++i)
      to[i * toStep] = from[i * fromStep];
}

template <typename T> void fillRow(T *to, int64_t step, T value, int64_t count) {
  if (step == 1)
    for (int64_t i = 0; i < count; ++i)
      to[i] = value;
  else
    for (int64_t i = 0; i < count; ++i)
      to[i * step] = value;
}

/// `value` as an element of `type`, which has the size of T.
template <typename T> T constantOf(DType type, double value) {
  alignas(8) char bytes[8] = {};
  writeConstant(type, value, bytes);
  T result;
  std::memcpy(&result, bytes, sizeof(T));
  return result;
}

/// Calls f(T()) with the unsigned integer type T of the size of an element of `type`.
template <typename F> void withBits(DType type, F f) {
  switch (dtypeBytes(type)) {
  case 1:
    return f(uint8_t());
  case 2:
    return f(uint16_t());
  case 4:
    return f(uint32_t());
  default:
    return f(uint64_t());
  }
}

} // namespace lstmc::cpu::LSTMC_CPU_NAMESPACE
