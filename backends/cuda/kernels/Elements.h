// Elements of operands of any type as numbers.
#pragma once

#include "backends/cuda/kernels/Operand.h"
#include "backends/cuda/kernels/Sums.h"
#include "executor/base/Numeric.h"

namespace lstmc::gpu {

template <typename V> LSTMC_DEVICE V loadAs(const Operand &x, int64_t offset) {
  return {elementsOf<const typename V::Stored>(x).load(offset)};
}
template <typename V> LSTMC_DEVICE void storeAs(const Operand &x, int64_t offset, V value) {
  elementsOf<typename V::Stored>(x).store(offset, value.v);
}

/// A number as To, converted as by `cast`: a denormal counts as 0 unless it stays what it is.
template <typename To> LSTMC_DEVICE To converted(double value) {
  if constexpr (std::is_same_v<To, double>)
    return value;
  else if constexpr (std::is_same_v<To, float> || std::is_same_v<To, Half> ||
                     std::is_same_v<To, BFloat>)
    return convert<To>(narrowed(value));
  else
    return convert<To>(flushed(Double{value}).v);
}
template <typename To> LSTMC_DEVICE To converted(float value) {
  if constexpr (std::is_same_v<To, float>)
    return value;
  else if constexpr (std::is_same_v<To, Half> || std::is_same_v<To, BFloat>)
    return convert<To>(value); // of bits alone
  else
    return convert<To>(flushed(Float{value}).v);
}
template <typename To, typename From> LSTMC_DEVICE To converted(From value) {
  return convert<To>(value);
}

/// Element of any type, converted; any nonzero byte is a true bool.
template <typename T> LSTMC_DEVICE T elementAs(const Operand &x, int64_t offset) {
  switch (DType(x.dtype)) {
  case DType::F32:
    return converted<T>(elementsOf<const float>(x).load(offset));
  case DType::F64:
    return converted<T>(elementsOf<const double>(x).load(offset));
  case DType::F16:
    return converted<T>(widen(Half{elementsOf<const uint16_t>(x).load(offset)}));
  case DType::BF16:
    return converted<T>(widen(BFloat{elementsOf<const uint16_t>(x).load(offset)}));
  case DType::I8:
    return converted<T>(elementsOf<const int8_t>(x).load(offset));
  case DType::U8:
    return converted<T>(elementsOf<const uint8_t>(x).load(offset));
  case DType::I32:
    return converted<T>(elementsOf<const int32_t>(x).load(offset));
  case DType::I64:
    return converted<T>(elementsOf<const int64_t>(x).load(offset));
  case DType::Bool:
    break;
  }
  return converted<T>(elementsOf<const uint8_t>(x).load(offset) != 0);
}

template <typename T> LSTMC_DEVICE void storeElement(const Operand &y, int64_t offset, T value) {
  switch (DType(y.dtype)) {
  case DType::F32:
    return elementsOf<float>(y).store(offset, converted<float>(value));
  case DType::F64:
    return elementsOf<double>(y).store(offset, converted<double>(value));
  case DType::F16:
    return elementsOf<uint16_t>(y).store(offset, converted<Half>(value).bits);
  case DType::BF16:
    return elementsOf<uint16_t>(y).store(offset, converted<BFloat>(value).bits);
  case DType::I8:
    return elementsOf<int8_t>(y).store(offset, converted<int8_t>(value));
  case DType::U8:
    return elementsOf<uint8_t>(y).store(offset, converted<uint8_t>(value));
  case DType::I32:
    return elementsOf<int32_t>(y).store(offset, converted<int32_t>(value));
  case DType::I64:
    return elementsOf<int64_t>(y).store(offset, converted<int64_t>(value));
  case DType::Bool:
    return elementsOf<uint8_t>(y).store(offset, converted<bool>(value) ? 1 : 0);
  }
}

} // namespace lstmc::gpu
