// Shapes of the ops in RandomOps.td, and their expansion.
#include <numbers>

#include "ir/sym/Create.h"
#include "ir/sym/Expression.h"
#include "ir/sym/RuleSupport.h"

using namespace mlir;

namespace lstmc::sym {

using E = Expression;

//===---- shapes ------------------------------------------------------------------------------===//

template <typename Op> static LogicalResult relateNumbers(ShapeRelation &relation, Op op) {
  if (failed(relateConstant(relation, op.getOutput(), op.getShape(), op.getDtype())))
    return failure();
  return relation.floatType(op.getOutput());
}

LogicalResult RandomUniformOp::relateShapes(ShapeRelation &relation) {
  return relateNumbers(relation, *this);
}
LogicalResult RandomNormalOp::relateShapes(ShapeRelation &relation) {
  return relateNumbers(relation, *this);
}

LogicalResult SampleMultinomialOp::relateShapes(ShapeRelation &relation) {
  Value data = getData(), output = getOutput();
  if (getGetProb())
    return relation.refuse(ErrorCode::E0215) << "get_prob is not built yet";
  if (failed(relation.floatType(data)) ||
      failed(relation.fixType(output, elementType(getContext(), getDtype()), "dtype")))
    return failure();
  for (int64_t extent : getShape())
    if (extent < 1)
      return relation.refuse(ErrorCode::E0206) << "dimension " << extent;
  if (!relation.ranked(data))
    return success();
  if (failed(rankAtLeast(relation, data, 1)))
    return failure();
  // sample_multinomial:shape
  int64_t rows = relation.rank(data) - 1, drawn = int64_t(getShape().size());
  if (rows + drawn == 0)
    return relation.fixShape(output, {1}, "");
  if (failed(relation.fixRank(output, rows + drawn)))
    return failure();
  for (int64_t axis = 0; axis < rows; ++axis)
    if (failed(relation.equal(output, axis, data, axis, "rows")))
      return failure();
  for (int64_t axis = 0; axis < drawn; ++axis)
    if (failed(relation.fix(output, rows + axis, getShape()[size_t(axis)], "elements", "shape")))
      return failure();
  return success();
}

//===---- what they are written out as --------------------------------------------------------===//

/// Uniform numbers in [0, 1) of this type.
static E uniform(OpBuilder &builder, Location loc, RankedTensorType type) {
  return {createUniform(builder, loc, createFull(builder, loc, type, 0.5), "always"), &builder};
}

Value RandomUniformOp::writtenOut(OpBuilder &builder) {
  double low = getLow().convertToDouble(), high = getHigh().convertToDouble();
  return (uniform(builder, getLoc(), rankedType(getOutput())) * (high - low) + low).value;
}

/// Box and Muller: sqrt(-2 log(1 - u)) cos(2 pi v) of two uniform numbers.
Value RandomNormalOp::writtenOut(OpBuilder &builder) {
  E u = uniform(builder, getLoc(), rankedType(getOutput()));
  E v = uniform(builder, getLoc(), rankedType(getOutput()));
  E radius = ((1.0 - u).of<LogOp>() * -2.0).of<SqrtOp>();
  E number = radius * (v * (2 * std::numbers::pi)).of<CosOp>();
  return (number * getScale().convertToDouble() + getMean().convertToDouble()).value;
}

/// The index i that maximises log(p) - log(-log(u)) has the probability p_i / sum(p).
Value SampleMultinomialOp::writtenOut(OpBuilder &builder) {
  Value data = getData();
  SmallVector<int64_t> rows(shapeOf(data).drop_back()), column(rows);
  column.append(getShape().size(), 1);
  rows.append(getShape().begin(), getShape().end());
  for (SmallVector<int64_t> *shape : {&rows, &column})
    shape->push_back(shapeOf(data).back());
  auto type = rankedType(data).clone(rows);
  Value p = createReshape(builder, getLoc(), data, column);
  if (rows != column)
    p = builder.create<BroadcastToOp>(getLoc(), type, p, rows);
  E chance{p, &builder};
  E half = chance.of<ZerosLikeOp>() + 0.5;
  E u{createUniform(builder, getLoc(), half.value, "always"), &builder};
  E score = chance.of<LogOp>() - (-u.of<LogOp>()).of<LogOp>();
  rows.pop_back();
  if (rows.empty())
    rows.push_back(1);
  Value drawn = builder.create<ArgmaxOp>(getLoc(), rankedType(data).clone(rows), score.value,
                                         builder.getI64IntegerAttr(int64_t(type.getRank()) - 1),
                                         builder.getBoolAttr(false));
  return createCast(builder, getLoc(), drawn, rankedType(getOutput()).getElementType());
}

} // namespace lstmc::sym
