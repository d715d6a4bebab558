#include "ir/sym/rules/LongReductions.h"

#include "ir/sym/Create.h"
#include "ir/sym/Expression.h"
#include "ir/sym/RuleSupport.h"
#include "ir/sym/rules/ReducedAxes.h"

namespace lstmc::sym {

namespace {

using E = Expression;

/// For sums: up to 2^31 digits, more than a tensor has elements, add up to at most 2^53.
constexpr double kSmallUnit = double(int64_t(1) << 22);
/// For the maximum and minimum, which add nothing up.
constexpr double kLargeUnit = double(int64_t(1) << 32);

/// A number as high * unit + low, with low from 0 to unit - 1.
struct Digits {
  E high, low;

  static Digits of(mlir::Location loc, E x, double unit) {
    // All these ops have the location of the user's op.
    E low{x.builder->create<ModScalarOp>(loc, x.value.getType(), x.value,
                                         x.builder->getF64FloatAttr(unit),
                                         /*is_int=*/x.builder->getBoolAttr(true)),
          x.builder};
    return {(-low + x) / unit, low};
  }
};

E inDoubles(E x) {
  return {createCast(*x.builder, x.value.getLoc(), x.value, x.builder->getF64Type()), x.builder};
}
E inLongs(E x) {
  return {createCast(*x.builder, x.value.getLoc(), x.value, x.builder->getI64Type()), x.builder};
}

/// Applies the op in f64, with a result of this shape.
template <typename Op> E reduced(Op op, E x, llvm::ArrayRef<int64_t> shape, bool keepdims) {
  auto type = mlir::RankedTensorType::get(shape, x.builder->getF64Type());
  return {x.builder->template create<Op>(op.getLoc(), type, x.value, op.getAxisAttr(),
                                         x.builder->getBoolAttr(keepdims), op.getExcludeAttr()),
          x.builder};
}

/// The extreme by highest digit, then by lowest digit. `choose` returns the low digit where the
/// high digit equals the extreme (1), and a neutral value elsewhere (0).
template <typename Op, typename Choose>
mlir::Value extreme(Op op, mlir::OpBuilder &builder, Choose choose) {
  llvm::ArrayRef<int64_t> shape = shapeOf(op.getData()), result = shapeOf(op.getOutput());
  llvm::SmallVector<int64_t> kept(shape);
  for (int64_t axis : reducedAxes(int64_t(shape.size()), op.getAxis(), op.getExclude()))
    kept[size_t(axis)] = 1;
  const Digits digits = Digits::of(op.getLoc(), {op.getData(), &builder}, kLargeUnit);
  const E high = inDoubles(digits.high), low = inDoubles(digits.low);
  const E best = reduced(op, high, kept, /*keepdims=*/true);
  const E spread{
      builder.create<BroadcastToOp>(op.getLoc(), high.value.getType(), best.value, shape),
      &builder};
  const E rest = reduced(op, choose(high.with<EqualOp>(spread), low), result, op.getKeepdims());
  const E first{createReshape(builder, op.getLoc(), best.value, result), &builder};
  return (inLongs(first) * kLargeUnit + inLongs(rest)).value;
}

} // namespace

mlir::Value sumOfLongs(SumOp op, mlir::OpBuilder &builder) {
  auto total = [&](E digit) {
    return inLongs(
        reduced(op, inDoubles(digit), shapeOf(op.getOutput()), /*keepdims=*/op.getKeepdims()));
  };
  const Digits lower = Digits::of(op.getLoc(), {op.getData(), &builder}, kSmallUnit);
  const Digits upper = Digits::of(op.getLoc(), lower.high, kSmallUnit);
  return ((total(upper.high) * kSmallUnit + total(upper.low)) * kSmallUnit + total(lower.low))
      .value;
}

mlir::Value meanOfLongs(MeanOp op, mlir::OpBuilder &builder) {
  const E sum{builder.create<SumOp>(op.getLoc(), op.getType(), op.getData(), op.getAxisAttr(),
                                    op.getKeepdimsAttr(), op.getExcludeAttr()),
              &builder};
  return (sum / double(elementsOf(op.getData()) / elementsOf(op.getOutput()))).value;
}

mlir::Value productOfLongs(ProdOp op, mlir::OpBuilder &builder) {
  llvm::ArrayRef<int64_t> shape = shapeOf(op.getData());
  E x{op.getData(), &builder};
  for (int64_t axis : reducedAxes(int64_t(shape.size()), op.getAxis(), op.getExclude())) {
    auto part = [&](int64_t begin, int64_t end) {
      return E{createSliceAxis(builder, op.getLoc(), x.value, axis, begin, end), &builder};
    };
    std::optional<E> left; // the last one where the count is odd
    for (int64_t count = shape[size_t(axis)]; count > 1; count /= 2) {
      if (count % 2 == 1)
        left = left ? *left * part(count - 1, count) : part(count - 1, count);
      E first = part(0, count / 2), second = part(count / 2, count / 2 * 2);
      x = first * second;
    }
    if (left)
      x = x * *left;
  }
  const mlir::Value y = createReshape(builder, op.getLoc(), x.value, shapeOf(op.getOutput()));
  return y == op.getData() ? builder.create<CopyOp>(op.getLoc(), op.getType(), y) : y;
}

mlir::Value extremeOfLongs(MaxOp op, mlir::OpBuilder &builder) {
  return extreme(op, builder, [](E isBest, E low) { return isBest * (low + 1) - 1; });
}

mlir::Value extremeOfLongs(MinOp op, mlir::OpBuilder &builder) {
  return extreme(op, builder,
                 [](E isBest, E low) { return kLargeUnit - isBest * (kLargeUnit - low); });
}

} // namespace lstmc::sym
