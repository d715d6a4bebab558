// Batch positions of the results of backward ops, and checks of internal ops.
#include "ir/sym/Create.h"
#include "ir/sym/RuleSupport.h"

using namespace mlir;

namespace lstmc::sym {

using Positions = ArrayRef<BatchPosition>;

/// An operand of a recurrent layer with the sequences of the batch on `axis`.
struct Sequences {
  unsigned operand;
  int axis;
};

/// The axis before the last of each result of a layer, if any operand has rows. Weights have none.
template <typename Op>
static BatchPosition layerBatch(Op op, unsigned index, Positions positions,
                                ArrayRef<Sequences> operands) {
  for (const Sequences &sequences : operands) {
    auto [first, count] = op.getODSOperandIndexAndLength(sequences.operand);
    if (count > 0 && positions[first])
      return positions[first].axis == sequences.axis
                 ? movedTo(positions[first], rankOf(op->getResult(index)) - 2)
                 : BatchPosition::none();
  }
  return BatchPosition::none();
}

BatchPosition RnnLayerOp::batchOfResult(unsigned index, Positions operands) {
  // x [T, B, I]; h0 and c0 [B, H]; length [B]
  return layerBatch(*this, index, operands, {{0, 1}, {5, 0}, {6, 0}, {7, 0}});
}

BatchPosition RnnLayerGradientOp::batchOfResult(unsigned index, Positions operands) {
  // gates, cells, y [T, B, _]; h0 and c0 [B, H]; length [B]; before, dy [T, B, H]; dhN, dcN [B, H]
  return layerBatch(
      *this, index, operands,
      {{0, 1}, {1, 1}, {2, 1}, {3, 0}, {4, 0}, {5, 0}, {6, 1}, {9, 1}, {10, 0}, {11, 0}});
}

/// The gradient divides by a count over all rows, unless `valid` provides the divisor.
BatchPosition SoftmaxOutputGradientOp::batchOfResult(unsigned, Positions operands) {
  auto axis = int64_t(getAxis());
  if (getNormalization() != "null" && !getValid())
    return BatchPosition::none();
  if (operands[0])
    return unlessOn(operands[0], axis);
  int64_t missing = rankOf(getP()) - rankOf(getLabel());
  if (missing <= 1)
    return withAxis(operands[1], axis, getLabel(), getP());
  return operands[1] && operands[1].axis == 0 ? unlessOn(operands[1], axis) : BatchPosition::none();
}

BatchPosition SoftmaxGradientOp::batchOfResult(unsigned, Positions operands) {
  if (BatchPosition position = firstBatch(operands.take_front(2)))
    return unlessOn(position, int64_t(getAxis()));
  return getLength() ? withAxis(operands[2], int64_t(getAxis()), getLength(), getDx())
                     : BatchPosition::none();
}

BatchPosition LayerNormGradientOp::batchOfResult(unsigned, Positions operands) {
  // x, gamma, mean, rstd, dy
  if (BatchPosition position = operands[0] ? operands[0] : operands[4])
    return unlessOn(position, int64_t(getAxis()));
  return withAxis(firstBatch({operands[2], operands[3]}), int64_t(getAxis()), getMean(), getX());
}

BatchPosition PickGradientOp::batchOfResult(unsigned, Positions operands) {
  unsigned of = operands[0] ? 0 : 1;
  return withAxis(operands[of], int64_t(getAxis()), getOperand(of), getDx());
}

BatchPosition SequenceLastGradientOp::batchOfResult(unsigned, Positions operands) {
  if (operands[0])
    return withAxis(operands[0], int64_t(getAxis()), getDy(), getDx());
  return movedTo(operands[1], operands[1] ? 1 - int64_t(getAxis()) : -1);
}

StringRef CutOp::extentsAttribute() { return "sizes"; }

/// If the batch is in the axis that is cut, the steps are the outer part of that axis (a cut keeps
/// whole steps); otherwise the rows themselves are cut and have no position.
BatchPosition CutOp::batchOfResult(unsigned index, Positions operands) {
  BatchPosition position = operands[0];
  if (!position || position.axis != 0)
    return position;
  int64_t size = getSizes()[index], period = position.batch * position.inner, begin = 0;
  for (int64_t before : getSizes().take_front(index))
    begin += before;
  if (size % period != 0 || begin % period != 0)
    return BatchPosition::none();
  position.outer = size / period;
  return position;
}

LogicalResult DropoutMaskOp::verify() {
  return verifyWindow(*this, getWindowAttr(), getMask().getType());
}

BatchPosition PlaceOp::batchOfResult(unsigned, Positions operands) {
  BatchPosition position = operands[0];
  return position && shapeOf(getX())[position.axis] == shapeOf(getY())[position.axis] &&
                 getStep()[size_t(position.axis)] == 1
             ? position
             : BatchPosition::none();
}

/// Checks that `some` has the rows of a part inside `axis`, and `all` those of the whole batch.
template <typename Op> static LogicalResult verifyRows(Op op, Value some, Value all) {
  int64_t axis = op.getAxis(), unit = int64_t(op.getOuter() * op.getInner());
  SmallVector<int64_t> part(shapeOf(some)), whole(shapeOf(all));
  if (part.size() != whole.size() || axis < 0 || axis >= int64_t(part.size()) || unit < 1)
    return op.emitOpError("axis ") << axis << " is not in both shapes";
  // all_rows:extent, own_rows:extent
  int64_t rows = part[size_t(axis)] / unit;
  if (whole[size_t(axis)] != unit * int64_t(op.getBatch()) || part[size_t(axis)] % unit != 0 ||
      rows < 1 || rows > int64_t(op.getBatch()))
    return op.emitOpError("found ")
           << part[size_t(axis)] << " and " << whole[size_t(axis)] << " on axis " << axis
           << ", want up to " << op.getBatch() << " rows, and all, times " << unit;
  part[size_t(axis)] = whole[size_t(axis)];
  if (part != whole)
    return op.emitOpError("changes another axis than ") << axis;
  return success();
}
LogicalResult AllRowsOp::verify() { return verifyRows(*this, getX(), getY()); }
LogicalResult OwnRowsOp::verify() { return verifyRows(*this, getY(), getX()); }

//===---- rows in the operands of sums --------------------------------------------------------===//

/// Number of elements on an operand's last axis.
static int64_t features(Operation *op, unsigned operand) {
  return shapeOf(op->getOperand(operand)).back();
}

int64_t WeightGradientOp::rowStride(unsigned operand) {
  unsigned uses = getDys().size(), use = operand % uses;
  if (operand >= 2 * uses)
    return features(*this, operand); // initials [B, K]; `begin` has no rows
  bool indices = operand >= uses && getKinds()[use] == 1;
  return getInner()[use] * (indices ? 1 : features(*this, operand));
}
int64_t BiasGradientOp::rowStride(unsigned operand) {
  return getInner()[operand] * features(*this, operand);
}
/// `inner` does not count the classes.
int64_t SoftmaxMetricOp::rowStride(unsigned operand) {
  ArrayRef<int64_t> shape = shapeOf(getX());
  auto inner = int64_t(getInner());
  bool classesAfter = product(shape.drop_front(size_t(getAxis()) + 1)) <= inner;
  return operand == 0 && classesAfter ? inner * shape[size_t(getAxis())] : inner;
}
int64_t RegressionMetricOp::rowStride(unsigned) { return int64_t(getInner()); }
int64_t LossMetricOp::rowStride(unsigned) { return int64_t(getInner()); }

BatchPosition ReduceToOp::batchOfResult(unsigned, Positions operands) {
  BatchPosition position = operands[0];
  bool kept = position && rankOf(getX()) == rankOf(getY()) &&
              shapeOf(getX())[position.axis] == shapeOf(getY())[position.axis];
  return kept ? position : BatchPosition::none();
}

} // namespace lstmc::sym
