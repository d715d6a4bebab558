// Shapes, batch position and cost of the ops in SequenceOps.td.
#include "ir/sym/ConstantValue.h"
#include "ir/sym/RuleSupport.h"

using namespace mlir;

namespace lstmc::sym {

using Positions = ArrayRef<BatchPosition>;

/// Relations common to the three ops: steps and batch are axes 0 and 1, in either order, and
/// `sequence_length` is [batch].
template <typename Op> static LogicalResult relateLengths(ShapeRelation &relation, Op op) {
  Value data = op.getData(), length = op.getSequenceLength();
  if (op.getAxis() != 0 && op.getAxis() != 1)
    return relation.refuse(ErrorCode::E0319) << "axis is " << op.getAxis() << ", wants 0 or 1";
  if (bool(length) != op.getUseSequenceLength())
    return relation.refuse(ErrorCode::E0319)
           << (length ? "has a sequence_length, and use_sequence_length is False"
                      : "needs sequence_length");
  if (failed(relation.sameType(data, op.getOutput())))
    return failure();
  if (relation.ranked(data) && failed(rankAtLeast(relation, data, 2)))
    return failure();
  if (!length)
    return success();
  if (failed(relation.fixRank(length, 1)))
    return failure();
  if (!relation.ranked(data))
    return success();
  if (failed(relation.equal(length, 0, data, 1 - op.getAxis(), "sequences")))
    return failure();
  return lengthWithin(relation, length, data, op.getAxis());
}

/// The rows of the data, or else of the lengths: there is one length for each sequence.
template <typename Op> static BatchPosition dataBatch(Op op, Positions operands) {
  if (operands[0] || operands.size() < 2)
    return operands[0];
  return movedTo(operands[1], operands[1] ? 1 - int64_t(op.getAxis()) : -1);
}

LogicalResult SequenceMaskOp::relateShapes(ShapeRelation &relation) {
  if (failed(relateLengths(relation, *this)))
    return failure();
  return relation.sameShape(getData(), getOutput());
}
/// An axis of steps cannot hold rows, because which steps are kept depends on the step.
BatchPosition SequenceMaskOp::batchOfResult(unsigned, Positions operands) {
  return unlessOn(dataBatch(*this, operands), int64_t(getAxis()));
}

LogicalResult SequenceLastOp::relateShapes(ShapeRelation &relation) {
  if (failed(relateLengths(relation, *this)))
    return failure();
  if (!relation.ranked(getData()))
    return success();
  return relateRemoved(relation, getData(), getOutput(), {int64_t(getAxis())}, false);
}
BatchPosition SequenceLastOp::batchOfResult(unsigned, Positions operands) {
  return withoutAxes(dataBatch(*this, operands), {int64_t(getAxis())}, false);
}

LogicalResult SequenceReverseOp::relateShapes(ShapeRelation &relation) {
  // sequence_reverse:axis
  if (getAxis() != 0)
    return relation.refuse(ErrorCode::E0319) << "axis is " << getAxis() << ", wants 0";
  if (failed(relateLengths(relation, *this)))
    return failure();
  return relation.sameShape(getData(), getOutput());
}
BatchPosition SequenceReverseOp::batchOfResult(unsigned, Positions operands) {
  return unlessOn(dataBatch(*this, operands), 0);
}

} // namespace lstmc::sym
