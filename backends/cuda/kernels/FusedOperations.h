// What the text of compiled fused programs calls (text/FusedText.h). The interpreter of Fused.cu
// means the same; tests compare the two.
#pragma once

#include "backends/cuda/kernels/Fused.h"
#include "backends/cuda/kernels/Scalars.h"
#include "executor/base/Philox.h"

namespace lstmc::gpu {

// A value is a Float, a Double, an int32_t, an int64_t or a bool; Stored is its number.
template <typename V> struct StoredOf {
  using type = V;
};
template <> struct StoredOf<Float> {
  using type = float;
};
template <> struct StoredOf<Double> {
  using type = double;
};
template <typename V> using Stored = typename StoredOf<V>::type;

template <typename V>
inline constexpr bool isFloating = std::is_same_v<V, Float> || std::is_same_v<V, Double>;

template <typename V> LSTMC_DEVICE Stored<V> numberOf(V value) {
  if constexpr (isFloating<V>)
    return value.v;
  else
    return value;
}

template <typename V> LSTMC_DEVICE V constant(uint64_t bits) {
  if constexpr (std::is_same_v<V, Float>)
    return {std::bit_cast<float>(uint32_t(bits))};
  else if constexpr (std::is_same_v<V, Double>)
    return {std::bit_cast<double>(bits)};
  else
    return V(bits);
}

template <typename To, typename From> LSTMC_DEVICE To castTo(From value) {
  return To{converted<Stored<To>>(numberOf(value))};
}

template <typename V>
LSTMC_DEVICE V uniform(int64_t seed, int64_t update, int64_t element, uint32_t ordinal) {
  return castTo<V>(
      randomUniform(uint64_t(seed), uint64_t(element), ordinal, uint32_t(uint64_t(update))));
}

template <ScalarOp op, typename V> LSTMC_DEVICE bool compared(V a, V b) {
  if constexpr (isFloating<V>)
    return comparison(op, a < b, a == b, b < a);
  else
    return comparison(op, a < b, a == b, a > b);
}

template <ScalarOp op, typename V> LSTMC_DEVICE V computed(V a, V b, V c) {
  if constexpr (op >= ScalarOp::And && op <= ScalarOp::Not)
    return castTo<V>(logicalOperation(op, castTo<bool>(a), castTo<bool>(b)));
  else if constexpr (isFloating<V>)
    return floatOperation<op>(a, b, c);
  else if constexpr (std::is_same_v<V, bool>)
    return integerOperation<op>(int32_t(a), int32_t(b), int32_t(c)) != 0;
  else
    return integerOperation<op>(a, b, c);
}

/// The offset of an element in each of kCount operands.
template <int kCount> struct Offsets {
  int64_t of[kCount];

  LSTMC_DEVICE Offsets(const FusedArguments &a, int64_t element) {
    for (int i = 0; i < kCount; ++i)
      of[i] = 0;
    for (int64_t axis = a.rank - 1; axis >= 0; --axis) {
      const int64_t index = axis == 0 ? element : element % a.shape[axis];
      element /= a.shape[axis];
      for (int i = 0; i < kCount; ++i)
        of[i] += index * int64_t(a.table.load(i * (3 + a.rank) + 3 + axis));
    }
  }
};

LSTMC_DEVICE Operand operandAt(const FusedArguments &a, int operand, DType type) {
  Operand place = {};
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the table holds addresses as numbers
  place.data = reinterpret_cast<void *>(uintptr_t(a.table.load(operand * (3 + a.rank))));
  place.dtype = int32_t(type);
  return place;
}
template <typename V, DType type>
LSTMC_DEVICE V loaded(const FusedArguments &a, int operand, int64_t offset) {
  return V{elementAs<Stored<V>>(operandAt(a, operand, type), offset)};
}
template <DType type, typename V>
LSTMC_DEVICE void put(const FusedArguments &a, int operand, int64_t offset, V value) {
  storeElement(operandAt(a, operand, type), offset, numberOf(value));
}

} // namespace lstmc::gpu
