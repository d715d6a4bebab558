// Uses of an op that other ops can express, and the ops that replace them.
#include "ir/sym/Shorthand.h"

#include "ir/sym/Create.h"
#include "ir/sym/RuleSupport.h"
#include "ir/sym/rules/LongReductions.h"

#include "mlir/IR/IRMapping.h"

#include "ir/sym/Shorthand.cpp.inc"

using namespace mlir;

namespace lstmc::sym {

namespace {

Type elementOf(Value value) { return rankedType(value).getElementType(); }

//===---- float16 and bfloat16: in float32, rounded once --------------------------------------===//

bool isHalf(Type type) { return isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32; }

Value inFloats(Operation *op, OpBuilder &builder) {
  Type half = elementOf(op->getResult(0));
  if (!isHalf(half))
    return {};
  IRMapping map;
  for (Value operand : op->getOperands())
    if (isHalf(elementOf(operand)))
      map.map(operand, createCast(builder, op->getLoc(), operand, builder.getF32Type()));
  Operation *wide = builder.clone(*op, map);
  Value y = wide->getResult(0);
  y.setType(rankedType(y).clone(builder.getF32Type()));
  return createCast(builder, op->getLoc(), y, half);
}
Value written(FullyConnectedOp op, OpBuilder &builder) { return inFloats(op, builder); }
Value written(DotOp op, OpBuilder &builder) { return inFloats(op, builder); }
// The gradient of a table sums rows, and masks are drawn in float32, so both compute in float32.
Value written(EmbeddingOp op, OpBuilder &builder) { return inFloats(op, builder); }
Value written(TakeOp op, OpBuilder &builder) { return inFloats(op, builder); }
Value written(DropoutOp op, OpBuilder &builder) { return inFloats(op, builder); }

//===---- softmax with a dtype, or of halves: in the widest of these types and float32 --------===//

template <typename Op> Value writtenSoftmax(Op op, OpBuilder &builder) {
  Value x = op.getData();
  Type from = elementOf(x), to = elementOf(op.getOutput());
  if (from == to && !isHalf(from))
    return {};
  Type wide = builder.getF32Type();
  for (Type type : {from, to})
    if (type.getIntOrFloatBitWidth() > wide.getIntOrFloatBitWidth())
      wide = type;
  x = createCast(builder, op.getLoc(), x, wide);
  Value y = builder.create<Op>(op.getLoc(), x.getType(), x, op.getLength(), op.getAxisAttr(),
                               op.getTemperatureAttr(), StringAttr(), op.getUseLengthAttr());
  return createCast(builder, op.getLoc(), y, to);
}
Value written(SoftmaxOp op, OpBuilder &builder) { return writtenSoftmax(op, builder); }
Value written(LogSoftmaxOp op, OpBuilder &builder) { return writtenSoftmax(op, builder); }

//===---- norm of order 1 ---------------------------------------------------------------------===//

Value written(NormOp op, OpBuilder &builder) {
  if (op.getOrd() == 2)
    return {};
  Value size = builder.create<AbsOp>(op.getLoc(), op.getData().getType(), op.getData());
  return builder.create<SumOp>(op.getLoc(), op.getType(), size, op.getAxisAttr(),
                               op.getKeepdimsAttr(), builder.getBoolAttr(false));
}

//===---- reductions of integers: in f64, which holds each of them but int64 ------------------===//

template <typename Op> Value inDoubles(Op op, OpBuilder &builder) {
  Type type = elementOf(op.getData());
  if (!type.isInteger())
    return {};
  Value x = createCast(builder, op.getLoc(), op.getData(), builder.getF64Type());
  auto wide = rankedType(op.getOutput()).clone(builder.getF64Type());
  Value y = builder.create<Op>(op.getLoc(), wide, x, op.getAxisAttr(), op.getKeepdimsAttr(),
                               op.getExcludeAttr());
  return createCast(builder, op.getLoc(), y, type);
}
Value written(SumOp op, OpBuilder &builder) {
  return elementOf(op.getData()).isInteger(64) ? sumOfLongs(op, builder) : inDoubles(op, builder);
}
template <typename Op> Value writtenExtreme(Op op, OpBuilder &builder) {
  return elementOf(op.getData()).isInteger(64) ? extremeOfLongs(op, builder)
                                               : inDoubles(op, builder);
}
Value written(MaxOp op, OpBuilder &builder) { return writtenExtreme(op, builder); }
Value written(MinOp op, OpBuilder &builder) { return writtenExtreme(op, builder); }
Value written(MeanOp op, OpBuilder &builder) {
  return elementOf(op.getData()).isInteger(64) ? meanOfLongs(op, builder) : inDoubles(op, builder);
}
Value written(ProdOp op, OpBuilder &builder) {
  return elementOf(op.getData()).isInteger(64) ? productOfLongs(op, builder)
                                               : inDoubles(op, builder);
}

//===---- where of whole rows -----------------------------------------------------------------===//

Value written(WhereOp op, OpBuilder &builder) {
  ArrayRef<int64_t> shape = shapeOf(op.getX());
  Value condition = op.getCondition();
  if (shapeOf(condition) == shape)
    return {};
  SmallVector<int64_t> column(shape.size(), 1);
  column[0] = shape[0];
  condition = createReshape(builder, op.getLoc(), condition, column);
  condition = builder.create<BroadcastToOp>(
      op.getLoc(), RankedTensorType::get(shape, elementOf(condition)), condition, shape);
  return builder.create<WhereOp>(op.getLoc(), op.getType(), condition, op.getX(), op.getY());
}

//===---- batch_dot with several axes of matrices ---------------------------------------------===//

Value written(BatchDotOp op, OpBuilder &builder) {
  if (Value y = inFloats(op, builder))
    return y;
  if (rankOf(op.getLhs()) == 3)
    return {};
  auto matrices = [](Value value) -> SmallVector<int64_t> {
    ArrayRef<int64_t> shape = shapeOf(value);
    return {product(shape.drop_back(2)), shape[shape.size() - 2], shape.back()};
  };
  Value lhs = createReshape(builder, op.getLoc(), op.getLhs(), matrices(op.getLhs()));
  Value rhs = createReshape(builder, op.getLoc(), op.getRhs(), matrices(op.getRhs()));
  auto type = rankedType(op.getOutput()).clone(matrices(op.getOutput()));
  Value y = builder.create<BatchDotOp>(op.getLoc(), type, lhs, rhs, op.getTransposeAAttr(),
                                       op.getTransposeBAttr());
  return createReshape(builder, op.getLoc(), y, shapeOf(op.getOutput()));
}

//===---- LayerNorm that shows its mean and deviation -----------------------------------------===//

/// The deviation is 1 / rstd. No gradient flows through either.
SmallVector<Value> allWritten(LayerNormOp op, OpBuilder &builder) {
  if (!op.getOutputMeanVar())
    return {};
  SmallVector<int64_t> removed(shapeOf(op.getMean()));
  if (removed.size() > 1) // of one axis it is [1]
    removed.erase(removed.begin() + normalAxis(op.getAxis(), rankOf(op.getData())));
  Type statistic = rankedType(op.getMean()).clone(removed);
  auto plain = builder.create<LayerNormOp>(
      op.getLoc(), TypeRange{op.getOutput().getType(), statistic, statistic}, op.getData(),
      op.getGamma(), op.getBeta(), op.getAxisAttr(), op.getEpsAttr(), builder.getBoolAttr(false));
  Value deviation = builder.create<ReciprocalOp>(op.getLoc(), statistic, Value(plain.getRstd()));
  SmallVector<Value> all{plain.getOutput()};
  for (Value value : {Value(plain.getMean()), deviation}) {
    value = builder.create<BlockGradOp>(op.getLoc(), statistic, value);
    all.push_back(createReshape(builder, op.getLoc(), value, shapeOf(op.getMean())));
  }
  return all;
}
Value written(LayerNormOp, OpBuilder &) { return {}; }

template <typename Op> SmallVector<Value> allWritten(Op op, OpBuilder &builder) {
  Value value = written(op, builder);
  return value ? SmallVector<Value>{value} : SmallVector<Value>();
}

template <typename Op>
struct ShorthandModel : ShorthandRule::ExternalModel<ShorthandModel<Op>, Op> {
  Value writtenOut(Operation *op, OpBuilder &builder) const {
    return written(cast<Op>(op), builder);
  }
  SmallVector<Value> writtenOutAll(Operation *op, OpBuilder &builder) const {
    return allWritten(cast<Op>(op), builder);
  }
};

template <typename... Ops> void attach(MLIRContext &context) {
  (Ops::template attachInterface<ShorthandModel<Ops>>(context), ...);
}

} // namespace

void attachShorthands(MLIRContext &context) {
  attach<FullyConnectedOp, DotOp, SoftmaxOp, LogSoftmaxOp, NormOp, SumOp, MeanOp, MaxOp, MinOp,
         ProdOp, WhereOp, BatchDotOp, LayerNormOp, EmbeddingOp, TakeOp, DropoutOp>(context);
}

} // namespace lstmc::sym
