// Shapes, batch position and cost of the ops in ProductOps.td.
#include "ir/sym/RuleSupport.h"

using namespace mlir;

namespace lstmc::sym {

using Positions = ArrayRef<BatchPosition>;

/// All operands and results that exist have one float type.
static LogicalResult relateFloats(ShapeRelation &relation, ArrayRef<Value> values) {
  for (int round = 0; round < 2; ++round)
    for (Value value : values.drop_front())
      if (value && failed(relation.sameType(values.front(), value)))
        return failure();
  return relation.floatType(values.front());
}

//===---- FullyConnected ----------------------------------------------------------------------===//

LogicalResult FullyConnectedOp::relateShapes(ShapeRelation &relation) {
  Value data = getData(), weight = getWeight(), bias = getBias(), output = getOutput();
  int64_t hidden = getNumHidden();
  if (failed(atLeast(relation, hidden, 1, "num_hidden")))
    return failure();
  if (failed(relateFloats(relation, {data, weight, output, bias})))
    return failure();

  // fully_connected:weight-shape, fully_connected:bias-shape
  if (failed(relation.fixRank(weight, 2)) ||
      failed(relation.fix(weight, 0, hidden, "outputs", "num_hidden")))
    return failure();
  if (bool(bias) == getNoBias())
    return relation.refuse(ErrorCode::E0319)
           << (bias ? "has a bias, and no_bias is True" : "has no bias, and no_bias is False");
  if (bias && (failed(relation.fixRank(bias, 1)) ||
               failed(relation.fix(bias, 0, hidden, "elements", "num_hidden"))))
    return failure();

  // fully_connected:output-shape, from what is known of either side
  if (getFlatten()) {
    if (failed(relation.fixRank(output, 2)) ||
        failed(relation.fix(output, 1, hidden, "columns", "num_hidden")))
      return failure();
    if (!relation.ranked(data))
      return success();
    // fully_connected:rank
    if (failed(rankAtLeast(relation, data, 1)) ||
        failed(relation.equal(output, 0, data, 0, "rows")))
      return failure();
    if (relation.rank(data) == 1)
      return relation.fix(weight, 1, 1, "inputs", "data of one axis");
    return relation.sameElements(weight, 1, 2, data, 1, relation.rank(data), "inputs");
  }
  if (relation.ranked(data)) {
    if (failed(rankAtLeast(relation, data, 1)) ||
        failed(relation.fixRank(output, relation.rank(data))))
      return failure();
  } else if (!relation.ranked(output) || failed(relation.fixRank(data, relation.rank(output)))) {
    return success();
  }
  int64_t last = relation.rank(data) - 1;
  if (failed(relation.equal(weight, 1, data, last, "inputs")))
    return failure();
  for (int64_t axis = 0; axis < last; ++axis)
    if (failed(relation.equal(output, axis, data, axis, "on axis " + std::to_string(axis))))
      return failure();
  return relation.fix(output, last, hidden, "columns", "num_hidden");
}

BatchPosition FullyConnectedOp::batchOfResult(unsigned, Positions operands) {
  int64_t last = getFlatten() ? 1 : rankOf(getData()) - 1;
  return operands[0] && operands[0].axis < last ? operands[0] : BatchPosition::none();
}

int64_t FullyConnectedOp::flops() {
  int64_t inputs = shapeOf(getWeight())[1];
  return product({elementsOf(getOutput()), 2 * inputs + (getBias() ? 1 : 0)});
}

//===---- dot ---------------------------------------------------------------------------------===//

LogicalResult DotOp::relateShapes(ShapeRelation &relation) {
  Value lhs = getLhs(), rhs = getRhs(), output = getOutput();
  if (failed(relateFloats(relation, {lhs, rhs, output})))
    return failure();
  if (!relation.ranked(lhs) || !relation.ranked(rhs))
    return success();
  // dot:rank
  if (failed(rankAtLeast(relation, lhs, 1)) || failed(rankAtLeast(relation, rhs, 1)))
    return failure();
  int64_t left = relation.rank(lhs), right = relation.rank(rhs);
  // dot:inner
  int64_t innerLeft = getTransposeA() ? 0 : left - 1, innerRight = getTransposeB() ? right - 1 : 0;
  if (failed(relation.equal(rhs, innerRight, lhs, innerLeft, "to multiply")))
    return failure();
  // dot:output-shape
  if (left + right == 2)
    return relation.fixShape(output, {1}, "");
  if (failed(relation.fixRank(output, left + right - 2)))
    return failure();
  for (int64_t at = 0; at < left + right - 2; ++at) {
    std::string noun = "on axis " + std::to_string(at);
    if (failed(at < left - 1 ? relation.equal(output, at, lhs, at + (getTransposeA() ? 1 : 0), noun)
                             : relation.equal(output, at, rhs,
                                              at - (left - 1) + (getTransposeB() ? 0 : 1), noun)))
      return failure();
  }
  return success();
}

BatchPosition DotOp::batchOfResult(unsigned, Positions operands) {
  int64_t left = rankOf(getLhs()), right = rankOf(getRhs());
  int64_t innerLeft = getTransposeA() ? 0 : left - 1, innerRight = getTransposeB() ? right - 1 : 0;
  if (operands[0])
    return operands[0].axis == innerLeft
               ? BatchPosition::none()
               : movedTo(operands[0], operands[0].axis - (getTransposeA() ? 1 : 0));
  if (!operands[1] || operands[1].axis == innerRight)
    return BatchPosition::none();
  return movedTo(operands[1], operands[1].axis + left - 1 - (getTransposeB() ? 0 : 1));
}

int64_t DotOp::flops() {
  ArrayRef<int64_t> lhs = shapeOf(getLhs());
  return product({2, elementsOf(getOutput()), getTransposeA() ? lhs.front() : lhs.back()});
}

//===---- batch_dot ---------------------------------------------------------------------------===//

LogicalResult BatchDotOp::relateShapes(ShapeRelation &relation) {
  Value lhs = getLhs(), rhs = getRhs(), output = getOutput();
  if (failed(relateFloats(relation, {lhs, rhs, output})))
    return failure();
  // batch_dot:rank
  int64_t rank = relation.ranked(lhs)      ? relation.rank(lhs)
                 : relation.ranked(rhs)    ? relation.rank(rhs)
                 : relation.ranked(output) ? relation.rank(output)
                                           : 3;
  if (rank < 3)
    return rankAtLeast(relation, relation.ranked(lhs) ? lhs : rhs, 3);
  for (Value value : {lhs, rhs, output})
    if (failed(relation.fixRank(value, rank)))
      return failure();
  int64_t rows = rank - (getTransposeA() ? 1 : 2), innerLeft = rank - (getTransposeA() ? 2 : 1);
  int64_t columns = rank - (getTransposeB() ? 2 : 1), innerRight = rank - (getTransposeB() ? 1 : 2);
  // batch_dot:batch, batch_dot:inner, batch_dot:output-shape
  for (int64_t axis = 0; axis < rank - 2; ++axis) {
    std::string noun = "on axis " + std::to_string(axis);
    if (failed(relation.equal(rhs, axis, lhs, axis, noun)) ||
        failed(relation.equal(output, axis, lhs, axis, noun)) ||
        failed(relation.equal(rhs, axis, lhs, axis, noun)))
      return failure();
  }
  if (failed(relation.equal(rhs, innerRight, lhs, innerLeft, "to multiply")) ||
      failed(relation.equal(output, rank - 2, lhs, rows, "rows")) ||
      failed(relation.equal(output, rank - 1, rhs, columns, "columns")))
    return failure();
  return success();
}

BatchPosition BatchDotOp::batchOfResult(unsigned, Positions operands) {
  if (operands[0] && operands[0].axis == 0)
    return operands[0];
  if (operands[1] && operands[1].axis == 0)
    return operands[1];
  if (operands[0] && operands[0].axis == (getTransposeA() ? 2 : 1))
    return movedTo(operands[0], 1);
  if (operands[1] && operands[1].axis == (getTransposeB() ? 1 : 2))
    return movedTo(operands[1], 2);
  return BatchPosition::none();
}

int64_t BatchDotOp::flops() {
  return product({2, elementsOf(getOutput()), shapeOf(getLhs())[getTransposeA() ? 1 : 2]});
}

} // namespace lstmc::sym
