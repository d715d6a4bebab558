// The interpreter of fused programs: one thread per element walks the instructions. A value is kept
// as the bits of its type in 64 bits.
#include "backends/cuda/kernels/Fused.h"

#include "backends/cuda/kernels/Scalars.h"
#include "executor/base/Philox.h"

namespace lstmc::gpu {

namespace {

template <typename T> LSTMC_DEVICE T valueOf(uint64_t bits) {
  if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<float>(uint32_t(bits));
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<double>(bits);
  else
    return T(bits);
}
template <typename T> LSTMC_DEVICE uint64_t bitsOf(T value) {
  if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<uint32_t>(value);
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<uint64_t>(value);
  else
    return uint64_t(value);
}

/// The bits of a value of type `from` as a T.
template <typename T> LSTMC_DEVICE T casted(DType from, uint64_t bits) {
  switch (from) {
  case DType::F32:
    return converted<T>(valueOf<float>(bits));
  case DType::F64:
    return converted<T>(valueOf<double>(bits));
  case DType::I32:
    return converted<T>(valueOf<int32_t>(bits));
  case DType::I64:
    return converted<T>(valueOf<int64_t>(bits));
  default:
    return converted<T>(bits != 0);
  }
}
LSTMC_DEVICE uint64_t cast(DType to, DType from, uint64_t bits) {
  switch (to) {
  case DType::F32:
    return bitsOf(casted<float>(from, bits));
  case DType::F64:
    return bitsOf(casted<double>(from, bits));
  case DType::I32:
    return bitsOf(casted<int32_t>(from, bits));
  case DType::I64:
    return bitsOf(casted<int64_t>(from, bits));
  default:
    return bitsOf(casted<bool>(from, bits));
  }
}

template <typename V> LSTMC_DEVICE bool compareFloats(ScalarOp op, V a, V b) {
  return comparison(op, a < b, a == b, b < a);
}

LSTMC_DEVICE bool compare(ScalarOp op, DType type, uint64_t a, uint64_t b) {
  if (type == DType::F32)
    return compareFloats(op, Float{valueOf<float>(a)}, Float{valueOf<float>(b)});
  if (type == DType::F64)
    return compareFloats(op, Double{valueOf<double>(a)}, Double{valueOf<double>(b)});
  const int64_t x = casted<int64_t>(type, a), y = casted<int64_t>(type, b);
  return comparison(op, x < y, x == y, x > y);
}

LSTMC_DEVICE uint64_t operation(ScalarOp op, DType type, uint64_t a, uint64_t b, uint64_t c) {
  if (op >= ScalarOp::And && op <= ScalarOp::Not)
    return cast(type, DType::Bool,
                logicalOperation(op, casted<bool>(type, a), casted<bool>(type, b)));
  switch (type) {
  case DType::F32:
    return bitsOf(floatOperation(op, Float{valueOf<float>(a)}, Float{valueOf<float>(b)},
                                 Float{valueOf<float>(c)})
                      .v);
  case DType::F64:
    return bitsOf(floatOperation(op, Double{valueOf<double>(a)}, Double{valueOf<double>(b)},
                                 Double{valueOf<double>(c)})
                      .v);
  case DType::I64:
    return bitsOf(
        integerOperation(op, valueOf<int64_t>(a), valueOf<int64_t>(b), valueOf<int64_t>(c)));
  default: {
    const int32_t result =
        integerOperation(op, valueOf<int32_t>(a), valueOf<int32_t>(b), valueOf<int32_t>(c));
    return type == DType::Bool ? bitsOf(result != 0) : bitsOf(result);
  }
  }
}

/// Whether the operation's result is a bool from two operands of one type.
LSTMC_DEVICE bool compares(ScalarOp op) {
  return op >= ScalarOp::Equal && op <= ScalarOp::GreaterEqual;
}

LSTMC_DEVICE uint64_t evaluate(const FusedStep &step, const uint64_t *values, int64_t element) {
  const auto op = ScalarOp(step.op);
  const auto type = DType(step.type), from = DType(step.from);
  const uint64_t a = values[step.a], b = values[step.b], c = values[step.c];
  switch (op) {
  case ScalarOp::Constant:
    return step.immediate;
  case ScalarOp::Cast:
    return cast(type, from, a);
  case ScalarOp::Uniform:
    return cast(type, DType::F64,
                bitsOf(randomUniform(a, uint64_t(element), uint32_t(step.immediate), uint32_t(b))));
  case ScalarOp::Select:
    return a ? b : c;
  default:
    return compares(op) ? uint64_t(compare(op, from, a, b)) : operation(op, type, a, b, c);
  }
}

/// The widest type of arithmetic on elements of this type, as bits.
LSTMC_DEVICE uint64_t loadValue(const Operand &x, int64_t offset) {
  switch (DType(x.dtype)) {
  case DType::F32:
  case DType::F16:
  case DType::BF16:
    return bitsOf(elementAs<float>(x, offset));
  case DType::F64:
    return bitsOf(elementAs<double>(x, offset));
  case DType::I64:
    return bitsOf(elementAs<int64_t>(x, offset));
  case DType::Bool:
    return bitsOf(elementAs<bool>(x, offset));
  default:
    return bitsOf(elementAs<int32_t>(x, offset));
  }
}
LSTMC_DEVICE void storeValue(const Operand &y, int64_t offset, DType type, uint64_t bits) {
  switch (type) {
  case DType::F32:
    return storeElement(y, offset, valueOf<float>(bits));
  case DType::F64:
    return storeElement(y, offset, valueOf<double>(bits));
  case DType::I32:
    return storeElement(y, offset, valueOf<int32_t>(bits));
  case DType::I64:
    return storeElement(y, offset, valueOf<int64_t>(bits));
  default:
    return storeElement(y, offset, bits != 0);
  }
}

/// An operand of the table, with the offset of an element.
struct Place {
  Operand operand;
  DType type;    ///< of the value that is stored there
  int64_t value; ///< its number; -1: the operand is read
  int64_t offset;
};

LSTMC_DEVICE Place placeOf(const FusedArguments &a, int64_t operand, const int64_t *index) {
  const int64_t first = operand * (3 + a.rank);
  Place place = {};
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the table holds addresses as numbers
  place.operand.data = reinterpret_cast<void *>(uintptr_t(a.table.load(first)));
  const uint64_t types = a.table.load(first + 1);
  place.operand.dtype = int32_t(types & 0xff);
  place.type = DType(types >> 8);
  place.value = int64_t(a.table.load(first + 2));
  for (int64_t axis = 0; axis < a.rank; ++axis)
    place.offset += index[axis] * int64_t(a.table.load(first + 3 + axis));
  return place;
}

LSTMC_DEVICE FusedStep stepOf(const FusedArguments &a, int64_t i) {
  constexpr int64_t kWords = int64_t(sizeof(FusedStep) / sizeof(uint64_t));
  return Table<FusedStep>{a.table.from(a.operands * (3 + a.rank) + i * kWords)}.row(0);
}

} // namespace

LSTMC_GPU_KERNEL(lstmc_fused, FusedArguments, a) {
  uint64_t values[kMaxFusedOperands + kMaxFusedInstructions];
  for (int64_t element = globalThreadIndex(); element < a.count; element += gridThreads()) {
    int64_t index[kRank], rest = element;
    for (int64_t axis = a.rank - 1; axis >= 0; --axis) {
      index[axis] = rest % a.shape[axis];
      rest /= a.shape[axis];
    }
    for (int64_t i = 0; i < a.operands; ++i) {
      const Place place = placeOf(a, i, index);
      values[i] = place.value < 0 ? loadValue(place.operand, place.offset) : 0;
    }
    const int64_t whole = elementInWhole(a, element);
    for (int64_t i = 0; i < a.instructions; ++i)
      values[a.operands + i] = evaluate(stepOf(a, i), values, whole);
    for (int64_t i = 0; i < a.operands; ++i) {
      const Place place = placeOf(a, i, index);
      if (place.value >= 0)
        storeValue(place.operand, place.offset, place.type, values[place.value]);
    }
  }
}

} // namespace lstmc::gpu
