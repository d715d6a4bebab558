// Operands of a launch in the form that kernels read: plain structs in the launch's arguments.
#pragma once

#include <bit>

#include "backends/cuda/kernels/Gpu.h"
#include "executor/abi/Packing.h"

namespace lstmc::gpu {

inline constexpr int kRank = 16;

/// A view of memory; `data` is null for an absent operand. `dtype` is a number of
/// executor/abi/DType.h.
struct Operand {
  void *data;
  int32_t dtype, rank;
  int64_t shape[kRank];
  int64_t strides[kRank];
};

/// Rows of a launch that are too many for its arguments, in memory of the device.
template <typename Row> struct Table {
  static_assert(sizeof(Row) % sizeof(uint64_t) == 0);

  Global<const uint64_t> words;

  LSTMC_DEVICE Row row(int64_t i) const {
    constexpr int kWords = int(sizeof(Row) / sizeof(uint64_t));
    struct {
      uint64_t word[kWords];
    } read;
    for (int w = 0; w < kWords; ++w)
      read.word[w] = words.load(i * kWords + w);
    return std::bit_cast<Row>(read);
  }
};

template <typename T> LSTMC_DEVICE Global<T> elementsOf(const Operand &operand) {
  return {static_cast<T *>(operand.data)};
}

/// Offset of element i, counted row-major, in elements from the data.
LSTMC_DEVICE int64_t offsetOf(const Operand &operand, int64_t i) {
  int64_t offset = 0;
  for (int axis = operand.rank - 1; axis >= 0; --axis) {
    offset += i % operand.shape[axis] * operand.strides[axis];
    i /= operand.shape[axis];
  }
  return offset;
}

LSTMC_DEVICE int64_t at(const Operand &x, int64_t i) { return i * x.strides[0]; }
LSTMC_DEVICE int64_t at(const Operand &x, int64_t i, int64_t j) {
  return i * x.strides[0] + j * x.strides[1];
}
LSTMC_DEVICE int64_t at(const Operand &x, int64_t i, int64_t j, int64_t k) {
  return i * x.strides[0] + j * x.strides[1] + k * x.strides[2];
}

/// Truncates towards 0 and saturates at 64 bits; NaN is 0. The same as a cast in the runtime.
LSTMC_DEVICE int64_t truncated(double value) {
  if (!(value == value))
    return 0;
  if (value < -9223372036854775808.0)
    return INT64_MIN;
  return value >= 9223372036854775808.0 ? INT64_MAX : int64_t(value);
}

/// Converts a stored f16 or bf16. Exact, so neither floating-point mode nor rounding matters.
LSTMC_DEVICE double halfValue(uint16_t bits) {
  int exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff;
  if (exponent == 0x1f)
    return fraction ? double(NAN) : bits & 0x8000 ? -double(INFINITY) : double(INFINITY);
  double value = exponent == 0 ? fraction : fraction + 1024;
  for (int e = exponent == 0 ? 1 : exponent; e < 25; ++e)
    value *= 0.5;
  for (int e = 25; e < exponent; ++e)
    value *= 2;
  return bits & 0x8000 ? -value : value;
}
LSTMC_DEVICE float bfloatValue(uint16_t bits) {
  union {
    uint32_t bits;
    float value;
  } wide = {uint32_t(bits) << 16};
  return wide.value;
}

/// An index, a label or a length of any type. The type numbers are those of executor/abi/DType.h.
LSTMC_DEVICE int64_t indexAt(const Operand &x, int64_t offset) {
  switch (x.dtype) {
  case 0:
    return truncated(elementsOf<const float>(x).load(offset));
  case 1:
    return truncated(elementsOf<const double>(x).load(offset));
  case 2:
    return truncated(halfValue(elementsOf<const uint16_t>(x).load(offset)));
  case 3:
    return truncated(bfloatValue(elementsOf<const uint16_t>(x).load(offset)));
  case 4:
    return elementsOf<const int8_t>(x).load(offset);
  case 5:
    return elementsOf<const uint8_t>(x).load(offset);
  case 6:
    return elementsOf<const int32_t>(x).load(offset);
  case 7:
    return elementsOf<const int64_t>(x).load(offset);
  default:
    return elementsOf<const uint8_t>(x).load(offset) != 0;
  }
}

/// Index into an axis of `extent` > 0 elements: modulo the extent, or the nearest valid index.
LSTMC_DEVICE int64_t inside(int64_t index, int64_t extent, bool wrap) {
  if (wrap)
    return (index % extent + extent) % extent;
  return index < 0 ? 0 : index >= extent ? extent - 1 : index;
}

/// Moves elements by their size in bytes.
LSTMC_DEVICE uint64_t loadBits(const Operand &x, int64_t offset, int bytes) {
  switch (bytes) {
  case 1:
    return elementsOf<const uint8_t>(x).load(offset);
  case 2:
    return elementsOf<const uint16_t>(x).load(offset);
  case 4:
    return elementsOf<const uint32_t>(x).load(offset);
  default:
    return elementsOf<const uint64_t>(x).load(offset);
  }
}
LSTMC_DEVICE void storeBits(const Operand &x, int64_t offset, int bytes, uint64_t bits) {
  switch (bytes) {
  case 1:
    return elementsOf<uint8_t>(x).store(offset, uint8_t(bits));
  case 2:
    return elementsOf<uint16_t>(x).store(offset, uint16_t(bits));
  case 4:
    return elementsOf<uint32_t>(x).store(offset, uint32_t(bits));
  default:
    return elementsOf<uint64_t>(x).store(offset, bits);
  }
}

} // namespace lstmc::gpu
