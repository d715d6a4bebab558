// Shapes and expansion of BatchNorm, and the ops for what differs in training.
#include "ir/sym/Create.h"
#include "ir/sym/Expression.h"
#include "ir/sym/RuleSupport.h"
#include "ir/sym/WrittenOps.h"

using namespace mlir;

namespace lstmc::sym {

using E = Expression;

BatchPosition ByModeOp::batchOfResult(unsigned, ArrayRef<BatchPosition> operands) {
  return broadcastBatch(*this, operands);
}

StringRef BatchNormOp::auxiliaryStart(StringRef input) {
  return input == "moving_mean" ? "zero" : input == "moving_var" ? "one" : "";
}

LogicalResult BatchNormOp::relateShapes(ShapeRelation &relation) {
  Value data = getData();
  // batch_norm:same-shape
  if (failed(relation.floatType(data)) || failed(relation.sameShape(data, getOutput())))
    return failure();
  for (int round = 0; round < 2; ++round)
    for (Value value : {getGamma(), getBeta(), getOutput()})
      if (failed(relation.sameType(data, value)))
        return failure();
  // Parameters are f32 or f64: of data in 16 bits the statistics are f32.
  if (Type type = relation.type(data)) {
    const bool wide = type.isF32() || type.isF64();
    for (Value value : {getMovingMean(), getMovingVar(), getMean(), getInverseStd()})
      if (failed(wide ? relation.sameType(data, value)
                      : relation.fixType(value, Float32Type::get(getContext()), "data")))
        return failure();
  }
  // batch_norm:parameter-shape
  const Value vectors[] = {getGamma(),     getBeta(), getMovingMean(),
                           getMovingVar(), getMean(), getInverseStd()};
  for (Value value : vectors)
    if (failed(relation.fixRank(value, 1)))
      return failure();
  if (!relation.ranked(data))
    return success();
  // batch_norm:axis
  if (failed(rankAtLeast(relation, data, 2)))
    return failure();
  FailureOr<int64_t> axis = axisOf(relation, data, getAxis(), "axis");
  if (failed(axis))
    return failure();
  for (Value value : vectors)
    if (failed(relation.equal(value, 0, data, *axis, "elements")))
      return failure();
  return success();
}

namespace {

/// The expansion of one BatchNorm, in the type of its statistics.
class BatchNormWriter {
public:
  BatchNormWriter(BatchNormOp op, OpBuilder &builder)
      : op(op), builder(builder), loc(op.getLoc()), channels(size_t(rankOf(op.getData())), 1) {
    const int64_t own = normalAxis(op.getAxis(), rankOf(op.getData()));
    channels[size_t(own)] = shapeOf(op.getData())[size_t(own)];
    for (int64_t axis = 0; axis < rankOf(op.getData()); ++axis)
      if (axis != own)
        others.push_back(axis);
    x = createCast(builder, loc, op.getData(), rankedType(op.getMovingMean()).getElementType());
  }

  SmallVector<Value> write() {
    Value mean = alongAxis(op.getMovingMean()), variance = alongAxis(op.getMovingVar());
    if (!op.getUseGlobalStats())
      useBatch(mean, variance);
    E inverse = (E{variance, &builder} + op.getEps().convertToDouble()).of<RsqrtOp>();
    E scale = inverse;
    if (!op.getFixGamma())
      scale = scale * E{alongAxis(cast(op.getGamma())), &builder};
    Value y = builder.create<BroadcastSubOp>(loc, x.getType(), x, mean);
    y = builder.create<BroadcastMulOp>(loc, x.getType(), y, scale.value);
    y = builder.create<BroadcastAddOp>(loc, x.getType(), y, alongAxis(cast(op.getBeta())));
    Value output = createCast(builder, loc, y, rankedType(op.getOutput()).getElementType());
    return {output, statistic(mean), statistic(inverse.value)};
  }

private:
  /// In training the statistics of the batch, which renew the moving averages. The mean is the
  /// point where the sum of squares is least, so that no gradient flows to it from there.
  void useBatch(Value &mean, Value &variance) {
    Value ofBatch = meanOf(x);
    Value fixed = builder.create<BlockGradOp>(loc, ofBatch.getType(), ofBatch);
    E centred{builder.create<BroadcastSubOp>(loc, x.getType(), x, fixed), &builder};
    Value varianceOfBatch = meanOf((centred * centred).value);
    renew(op.getMovingMean(), ofBatch);
    renew(op.getMovingVar(), varianceOfBatch);
    mean = builder.create<ByModeOp>(loc, mean.getType(), ofBatch, mean);
    variance = builder.create<ByModeOp>(loc, variance.getType(), varianceOfBatch, variance);
  }

  void renew(Value state, Value value) {
    builder.create<MovingAverageOp>(loc, state, createReshape(builder, loc, value, shapeOf(state)),
                                    op.getMomentumAttr());
  }

  Value meanOf(Value value) {
    return builder.create<MeanOp>(loc, rankedType(value).clone(channels), value,
                                  builder.getDenseI64ArrayAttr(others), builder.getBoolAttr(true),
                                  builder.getBoolAttr(false));
  }

  Value cast(Value value) {
    return createCast(builder, loc, value, rankedType(x).getElementType());
  }
  Value alongAxis(Value value) { return createReshape(builder, loc, value, channels); }
  Value statistic(Value value) {
    value = builder.create<BlockGradOp>(loc, value.getType(), value);
    return createReshape(builder, loc, value, shapeOf(op.getMean()));
  }

  BatchNormOp op;
  OpBuilder &builder;
  Location loc;
  SmallVector<int64_t> channels, others; ///< a shape with one extent; the axes of the others
  Value x;
};

} // namespace

SmallVector<Value> BatchNormOp::writtenOutAll(OpBuilder &builder) {
  return BatchNormWriter(*this, builder).write();
}
Value BatchNormOp::writtenOut(OpBuilder &builder) { return writtenOutAll(builder).front(); }

} // namespace lstmc::sym
