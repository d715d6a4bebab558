// Where the batch is in the results of backward ops.
#include "ir/sym/Create.h"
#include "ir/sym/RuleSupport.h"

using namespace mlir;

namespace lstmc::sym {

using Positions = ArrayRef<BatchPosition>;

BatchPosition RnnLayerGradientOp::batchOfResult(unsigned index, Positions operands) {
  BatchPosition position = operands[0]; // gates [T, B, G*H]
  return position && position.axis == 1 ? movedTo(position, int(rankOf(getResult(index))) - 2)
                                        : BatchPosition::none();
}

BatchPosition SoftmaxOutputGradientOp::batchOfResult(unsigned, Positions operands) {
  return operands[0];
}
BatchPosition SoftmaxGradientOp::batchOfResult(unsigned, Positions operands) { return operands[0]; }
BatchPosition LayerNormGradientOp::batchOfResult(unsigned, Positions operands) {
  return operands[0];
}

BatchPosition PickGradientOp::batchOfResult(unsigned, Positions operands) {
  BatchPosition position = operands[0];
  bool dropped = rankOf(getDy()) < rankOf(getDx());
  return position && dropped && position.axis >= int(getAxis())
             ? movedTo(position, position.axis + 1)
             : position;
}

BatchPosition SequenceLastGradientOp::batchOfResult(unsigned, Positions operands) {
  BatchPosition position = operands[0];
  return position && position.axis >= int(getAxis()) ? movedTo(position, position.axis + 1)
                                                     : position;
}

/// A batch that is in the cut axis is behind the steps there, or is what is cut.
BatchPosition CutOp::batchOfResult(unsigned index, Positions operands) {
  BatchPosition position = operands[0];
  if (!position || position.axis != 0)
    return position;
  int64_t size = getSizes()[index], period = position.batch * position.inner;
  if (size % period != 0)
    return BatchPosition::none();
  position.outer = size / period;
  return position;
}

LogicalResult DropoutMaskOp::verify() {
  return verifyWindow(*this, getWindowAttr(), getMask().getType());
}

BatchPosition PlaceOp::batchOfResult(unsigned, Positions operands) {
  BatchPosition position = operands[0];
  return position && shapeOf(getX())[position.axis] == shapeOf(getY())[position.axis]
             ? position
             : BatchPosition::none();
}

BatchPosition ReduceToOp::batchOfResult(unsigned, Positions operands) {
  BatchPosition position = operands[0];
  bool kept = position && rankOf(getX()) == rankOf(getY()) &&
              shapeOf(getX())[position.axis] == shapeOf(getY())[position.axis];
  return kept ? position : BatchPosition::none();
}

} // namespace lstmc::sym
