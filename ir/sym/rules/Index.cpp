// Shapes, batch position and cost of the ops in IndexOps.td.
#include "ir/sym/Create.h"
#include "ir/sym/RuleSupport.h"

using namespace mlir;

namespace lstmc::sym {

using Positions = ArrayRef<BatchPosition>;

/// `longer` has the rank and extents of `shorter` and one more axis at the end.
static LogicalResult relateOneMore(ShapeRelation &relation, Value shorter, Value longer) {
  if (relation.ranked(shorter)) {
    if (failed(relation.fixRank(longer, relation.rank(shorter) + 1)))
      return failure();
  } else if (relation.ranked(longer)) {
    if (failed(rankAtLeast(relation, longer, 1)) ||
        failed(relation.fixRank(shorter, relation.rank(longer) - 1)))
      return failure();
  } else {
    return success();
  }
  for (int64_t axis = 0, end = relation.rank(shorter); axis < end; ++axis)
    if (failed(relation.equal(longer, axis, shorter, axis, "on axis " + std::to_string(axis))))
      return failure();
  return success();
}

//===---- Embedding ---------------------------------------------------------------------------===//

LogicalResult EmbeddingOp::relateShapes(ShapeRelation &relation) {
  Value data = getData(), weight = getWeight(), output = getOutput();
  if (failed(atLeast(relation, getInputDim(), 1, "input_dim")) ||
      failed(atLeast(relation, getOutputDim(), 1, "output_dim")))
    return failure();
  // embedding:weight-shape
  if (failed(relation.fixRank(weight, 2)) ||
      failed(relation.fix(weight, 0, getInputDim(), "rows", "input_dim")) ||
      failed(relation.fix(weight, 1, getOutputDim(), "columns", "output_dim")) ||
      failed(relation.sameType(weight, output)))
    return failure();
  if (!relation.type(weight) &&
      failed(relation.fixType(weight, elementType(getContext(), getDtype()), "dtype")))
    return failure();
  // embedding:output-shape
  if (failed(relation.sameType(weight, output)) || failed(relateOneMore(relation, data, output)))
    return failure();
  if (!relation.ranked(output))
    return success();
  return relation.fix(output, relation.rank(output) - 1, getOutputDim(), "columns", "output_dim");
}
BatchPosition EmbeddingOp::batchOfResult(unsigned, Positions operands) { return operands[0]; }

//===---- take --------------------------------------------------------------------------------===//

LogicalResult TakeOp::relateShapes(ShapeRelation &relation) {
  Value a = getA(), indices = getIndices(), output = getOutput();
  if (failed(relation.sameType(a, output)))
    return failure();
  if (!relation.ranked(a))
    return success();
  // take:axis
  FailureOr<int64_t> axis = axisOf(relation, a, getAxis(), "axis");
  if (failed(axis))
    return failure();
  if (!relation.ranked(indices))
    return success();
  // take:output-shape
  int64_t rank = relation.rank(a), inserted = relation.rank(indices);
  if (failed(relation.fixRank(output, rank - 1 + inserted)))
    return failure();
  for (int64_t at = 0; at < rank - 1 + inserted; ++at) {
    std::string noun = "on axis " + std::to_string(at);
    bool fromIndices = at >= *axis && at < *axis + inserted;
    if (failed(fromIndices
                   ? relation.equal(output, at, indices, at - *axis, noun)
                   : relation.equal(output, at, a, at < *axis ? at : at - inserted + 1, noun)))
      return failure();
  }
  return success();
}

BatchPosition TakeOp::batchOfResult(unsigned, Positions operands) {
  int64_t axis = normalAxis(getAxis(), rankOf(getA()));
  if (operands[1])
    return movedTo(operands[1], axis + operands[1].axis);
  if (!operands[0] || operands[0].axis == axis)
    return BatchPosition::none();
  return movedTo(operands[0], operands[0].axis < axis
                                  ? operands[0].axis
                                  : operands[0].axis - 1 + rankOf(getIndices()));
}

//===---- pick --------------------------------------------------------------------------------===//

LogicalResult PickOp::relateShapes(ShapeRelation &relation) {
  Value data = getData(), index = getIndex(), output = getOutput();
  if (failed(relation.sameType(data, output)))
    return failure();
  if (!relation.ranked(data))
    return success();
  // pick:axis
  FailureOr<int64_t> axis = axisOf(relation, data, getAxis(), "axis");
  if (failed(axis))
    return failure();
  // pick:index-shape
  bool kept = relation.ranked(index) && relation.rank(index) == relation.rank(data);
  if (failed(relateRemoved(relation, data, index, {*axis}, kept)))
    return failure();
  // pick:output-shape
  return relateRemoved(relation, data, output, {*axis}, getKeepdims());
}

BatchPosition PickOp::batchOfResult(unsigned, Positions operands) {
  int64_t axis = normalAxis(getAxis(), rankOf(getData()));
  BatchPosition position = operands[0];
  if (!position)
    position = withAxis(operands[1], axis, getIndex(), getData());
  return withoutAxes(position, {axis}, getKeepdims());
}

//===---- one_hot -----------------------------------------------------------------------------===//

LogicalResult OneHotOp::relateShapes(ShapeRelation &relation) {
  // one_hot:depth
  if (failed(atLeast(relation, getDepth(), 1, "depth")))
    return failure();
  // one_hot:output-shape
  if (failed(relation.fixType(getOutput(), elementType(getContext(), getDtype()), "dtype")) ||
      failed(relateOneMore(relation, getIndices(), getOutput())))
    return failure();
  if (!relation.ranked(getOutput()))
    return success();
  return relation.fix(getOutput(), relation.rank(getOutput()) - 1, getDepth(), "columns", "depth");
}
BatchPosition OneHotOp::batchOfResult(unsigned, Positions operands) { return operands[0]; }

} // namespace lstmc::sym
