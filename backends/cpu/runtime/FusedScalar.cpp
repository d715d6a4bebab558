// Operations of the tile evaluator element by element, with the meaning of base/ScalarSemantics.h.
// Compiled once.
#include "backends/cpu/runtime/FusedTable.h"

#include <type_traits>

#include "executor/base/ScalarSemantics.h"

namespace lstmc::cpu {

namespace {

constexpr const ScalarRecord &recordOf(ScalarOp op) { return kScalarRecords[int(op)]; }

/// How a tile stores a value of type T: a bool as an f32 of 0 or 1.
template <typename T> using Held = std::conditional_t<std::is_same_v<T, bool>, float, T>;

template <typename T> T take(const Held<T> &held) {
  if constexpr (std::is_same_v<T, bool>)
    return held != 0.0f;
  else
    return held;
}
template <typename T> Held<T> hold(T value) { return Held<T>(value); }

template <typename T> struct Input {
  const Held<T> *data;
  int64_t step;
  Input(const TileArgs &args, int k)
      : data(static_cast<const Held<T> *>(args.in[k])), step(args.step[k]) {}
  T operator[](int64_t i) const { return take<T>(data[i * step]); }
};

template <ScalarOp Op, typename T> void same(const TileArgs &args) {
  constexpr int kOperands = recordOf(Op).operands;
  auto *out = static_cast<T *>(args.out);
  Input<T> a(args, 0), b(args, kOperands > 1 ? 1 : 0), c(args, kOperands > 2 ? 2 : 0);
  for (int64_t i = 0; i < args.count; ++i) {
    if constexpr (kOperands == 1)
      out[i] = evaluate<T>(Op, a[i]);
    else if constexpr (kOperands == 2)
      out[i] = evaluate<T>(Op, a[i], b[i]);
    else
      out[i] = evaluate<T>(Op, a[i], b[i], c[i]);
  }
}

template <ScalarOp Op, typename T> void compared(const TileArgs &args) {
  auto *out = static_cast<float *>(args.out);
  Input<T> a(args, 0), b(args, 1);
  for (int64_t i = 0; i < args.count; ++i)
    out[i] = hold(compare<T>(Op, a[i], b[i]));
}

template <typename T> void selected(const TileArgs &args) {
  auto *out = static_cast<Held<T> *>(args.out);
  Input<bool> a(args, 0);
  Input<T> b(args, 1), c(args, 2);
  for (int64_t i = 0; i < args.count; ++i)
    out[i] = hold(a[i] ? b[i] : c[i]);
}

template <typename T> void constant(const TileArgs &args) {
  auto *out = static_cast<Held<T> *>(args.out);
  for (int64_t i = 0; i < args.count; ++i)
    out[i] = hold(convert<T>(args.immediate));
}

template <typename To, typename From> void cast(const TileArgs &args) {
  auto *out = static_cast<Held<To> *>(args.out);
  Input<From> a(args, 0);
  for (int64_t i = 0; i < args.count; ++i)
    out[i] = hold(convert<To>(a[i]));
}

template <typename T> void uniform(const TileArgs &args) {
  auto *out = static_cast<Held<T> *>(args.out);
  Input<int64_t> seed(args, 0), update(args, 1);
  auto ordinal = uint32_t(convert<int64_t>(args.immediate));
  for (int64_t i = 0; i < args.count; ++i)
    out[i] = hold(convert<T>(
        randomUniform(uint64_t(seed[i]), args.first + uint64_t(i), ordinal, uint32_t(update[i]))));
}

template <ScalarOp Op, typename T> TileFunction functionOf() {
  if constexpr (recordOf(Op).result == ScalarResult::Bool)
    return compared<Op, T>;
  else if constexpr (Op == ScalarOp::Select)
    return selected<T>;
  else if constexpr (std::is_same_v<T, bool> || recordOf(Op).result == ScalarResult::From)
    return nullptr;
  else
    return same<Op, T>;
}

template <typename T> TileFunction functionFor(ScalarOp op) {
  switch (op) {
#define LSTMC_SCALAR(ID, NAME, OPERANDS, RESULT, MEANING)                                          \
  case ScalarOp::ID:                                                                               \
    return functionOf<ScalarOp::ID, T>();
#include "executor/abi/ScalarOps.def"
  }
  return nullptr;
}

} // namespace

TileFunction scalarTileFunction(ScalarOp op, DType operands, DType result) {
  switch (op) {
  case ScalarOp::Constant:
    return withWidenedType(result, [](auto to) -> TileFunction { return constant<decltype(to)>; });
  case ScalarOp::Uniform:
    return withWidenedType(result, [](auto to) -> TileFunction { return uniform<decltype(to)>; });
  case ScalarOp::Cast:
    return withWidenedType(operands, [&](auto from) -> TileFunction {
      return withWidenedType(
          result, [&](auto to) -> TileFunction { return cast<decltype(to), decltype(from)>; });
    });
  default:
    return withWidenedType(
        operands, [&](auto type) -> TileFunction { return functionFor<decltype(type)>(op); });
  }
}

} // namespace lstmc::cpu
