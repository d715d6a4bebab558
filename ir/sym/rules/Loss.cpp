// Shapes, batch position, scalar form and cost of the ops in LossOps.td.
#include "ir/sym/Create.h"
#include "ir/sym/Expression.h"
#include "ir/sym/RuleSupport.h"

using namespace mlir;

namespace lstmc::sym {

using Positions = ArrayRef<BatchPosition>;

//===---- SoftmaxOutput -----------------------------------------------------------------------===//

/// As many labels as rows of data; states of a layer, [layers, N, units], are no rows.
static LogicalResult relateLabels(ShapeRelation &relation, Value label, Value data) {
  const int64_t labels = relation.extent(label, 0), rows = relation.extent(data, 0);
  auto layer = data.getDefiningOp<FullyConnectedOp>();
  auto type = layer ? dyn_cast<RankedTensorType>(layer.getData().getType()) : RankedTensorType();
  if (relation.naming() || labels == rows || labels < 0 || !type || type.getRank() != 3 ||
      type.getDimSize(0) != rows || type.getDimSize(1) != labels)
    return relation.equal(label, 0, data, 0, "labels");
  CodedDiagnostic diagnostic = relation.refuse(ErrorCode::E0207, {{label, 0}, {data, 0}});
  diagnostic << "label has " << labels << " labels, data has " << rows;
  diagnostic.help("where data are made of the states of a layer, [layers, N, units]: h[-1] is that "
                  "of the last layer, [N, units]");
  return diagnostic;
}

/// The forms that a label may have, given its rank. A label without a rank gets the first form.
static LogicalResult relateLabel(ShapeRelation &relation, SoftmaxOutputOp op) {
  Value data = op.getData(), label = op.getLabel();
  int64_t rank = relation.rank(data), last = rank - 1;
  int64_t labelRank = relation.ranked(label) ? relation.rank(label) : -1;
  // The label holds probabilities.
  if (labelRank == rank &&
      !(op.getMultiOutput() && relation.extent(label, 1) == 1 && relation.extent(data, 1) != 1)) {
    if (!op.getMultiOutput() && relation.extent(label, last) == 1 &&
        relation.extent(data, last) > 1)
      return relation.refuse(ErrorCode::E0207, {{label, kTypeAxis}, {data, kTypeAxis}})
             << "label has 1 on axis " << last << ", data has " << relation.extent(data, last)
             << " classes there: labels that are classes are without that axis, label.squeeze()";
    return relation.sameShape(label, data);
  }
  if (!op.getMultiOutput()) {
    int64_t wanted = op.getPreserveShape() ? last : 1; // MXNet: multi_output takes precedence
    if (failed(relation.fixRank(label, wanted)))
      return failure();
    if (wanted == 1)
      return relateLabels(relation, label, data);
    for (int64_t axis = 0; axis < wanted; ++axis)
      if (failed(relation.equal(label, axis, data, axis, "on axis " + std::to_string(axis))))
        return failure();
    return success();
  }
  // Classes on axis 1: [n, positions], [n, 1, ...] or [n, ...].
  if (labelRank == -1 && failed(relation.fixRank(label, rank == 2 ? 1 : 2)))
    return failure();
  labelRank = relation.rank(label);
  if (failed(rankAtLeast(relation, label, rank == 2 ? 1 : 2)) ||
      failed(relation.equal(label, 0, data, 0, "on axis 0")))
    return failure();
  if (labelRank == rank || labelRank == last) {
    int64_t from = labelRank == rank ? 2 : 1;
    for (int64_t axis = 2; axis < rank; ++axis)
      if (failed(relation.equal(label, axis - 2 + from, data, axis,
                                "on axis " + std::to_string(axis - 2 + from))))
        return failure();
    return success();
  }
  if (failed(relation.fixRank(label, 2)))
    return failure();
  return relation.sameElements(label, 1, 2, data, 2, rank, "positions");
}

LogicalResult SoftmaxOutputOp::relateShapes(ShapeRelation &relation) {
  // softmax_output:out-grad
  if (getOutGrad())
    return relation.refuse(ErrorCode::E0215) << "out_grad is not built yet";
  // softmax_output:same-shape
  if (failed(relation.sameShape(getData(), getOutput())) ||
      failed(relation.sameType(getData(), getOutput())) ||
      failed(wideFloatType(relation, getData())))
    return failure();
  if (!relation.ranked(getData()))
    return success();
  // softmax_output:rank
  if (failed(rankAtLeast(relation, getData(), 2)))
    return failure();
  // softmax_output:label-shape
  return relateLabel(relation, *this);
}

/// Classes are on one axis, or on all axes but the first. A label has this axis too, or lacks it,
/// or has all axes after the first as one.
BatchPosition SoftmaxOutputOp::batchOfResult(unsigned, Positions operands) {
  bool kept = getPreserveShape() && !getMultiOutput();
  int64_t rank = rankOf(getData()), axis = kept ? rank - 1 : 1;
  BatchPosition position = operands[0];
  if (!position && operands[1]) {
    int64_t missing = rank - rankOf(getLabel());
    position = missing <= 1 ? withAxis(operands[1], axis, getLabel(), getData()) : operands[1];
    if (missing > 1 && position.axis != 0)
      return BatchPosition::none();
  }
  // The gradient divides by the number of positions in a row, so the batch cannot be on the axis of
  // positions.
  return !kept && position.axis != 0 ? BatchPosition::none() : unlessOn(position, axis);
}
int64_t SoftmaxOutputOp::flops() { return 5 * elementsOf(getData()); }
StringRef SoftmaxOutputOp::metricKind() { return "softmax"; }
int64_t SoftmaxOutputOp::classCount() {
  ArrayRef<int64_t> shape = shapeOf(getData());
  return getMultiOutput()     ? shape[1]
         : getPreserveShape() ? shape.back()
                              : product(shape.drop_front());
}
bool SoftmaxOutputOp::ignoresGradient() { return true; }
bool SoftmaxOutputOp::normalises() { return getNormalization() != "null" && !holdsProbabilities(); }
bool SoftmaxOutputOp::holdsProbabilities() { return shapeOf(getLabel()) == shapeOf(getData()); }

//===---- regression heads --------------------------------------------------------------------===//

template <typename Op> static LogicalResult relateRegression(ShapeRelation &relation, Op op) {
  Value data = op.getData(), label = op.getLabel();
  // same-shape
  if (failed(relation.sameShape(data, op.getOutput())) ||
      failed(relation.sameType(data, op.getOutput())) || failed(wideFloatType(relation, data)))
    return failure();
  // label-shape
  if (!relation.ranked(data))
    return success();
  bool column = relation.rank(data) == 2 && relation.extent(data, 1) == 1;
  if (column && (!relation.ranked(label) || relation.rank(label) == 1)) {
    if (failed(relation.fixRank(label, 1)))
      return failure();
    return relateLabels(relation, label, data);
  }
  if (!relation.ranked(label) && !relation.complete(data))
    return success();
  // A label of another shape with as many elements is matched in row-major order.
  auto elements = [&](Value value) {
    int64_t count = 1;
    for (int64_t axis = 0; axis < relation.rank(value); ++axis)
      count = product({count, relation.extent(value, axis)});
    return count;
  };
  if (relation.ranked(label) && relation.complete(label) && relation.complete(data) &&
      elements(label) == elements(data))
    return success();
  return relation.sameShape(label, data);
}

/// In a label of another shape, the rows are elsewhere, and a part of the batch cannot tell which
/// rows it needs.
template <typename Op> static BatchPosition regressionBatch(Op op, Positions operands) {
  ArrayRef<int64_t> data = shapeOf(op.getData()), label = shapeOf(op.getLabel());
  bool column = data.size() == 2 && data[1] == 1 && label.size() == 1;
  return data == label || column ? firstBatch(operands) : BatchPosition::none();
}

#define LSTMC_REGRESSION(OP, KIND, CLASSES)                                                        \
  LogicalResult OP::relateShapes(ShapeRelation &relation) {                                        \
    return relateRegression(relation, *this);                                                      \
  }                                                                                                \
  BatchPosition OP::batchOfResult(unsigned, Positions operands) {                                  \
    return regressionBatch(*this, operands);                                                       \
  }                                                                                                \
  int64_t OP::flops() { return elementsOf(getOutput()); }                                          \
  StringRef OP::metricKind() { return KIND; }                                                      \
  int64_t OP::classCount() { return CLASSES; }                                                     \
  bool OP::ignoresGradient() { return true; }                                                      \
  bool OP::normalises() { return false; }
LSTMC_REGRESSION(LinearRegressionOutputOp, "linear", 0)
LSTMC_REGRESSION(MaeRegressionOutputOp, "mae", 0)
LSTMC_REGRESSION(LogisticRegressionOutputOp, "logistic", 2)
#undef LSTMC_REGRESSION

Value LinearRegressionOutputOp::emitScalar(OpBuilder &, ValueRange element) { return element[0]; }
Value MaeRegressionOutputOp::emitScalar(OpBuilder &, ValueRange element) { return element[0]; }
Value LogisticRegressionOutputOp::emitScalar(OpBuilder &builder, ValueRange element) {
  return ScalarEmitter(builder, getLoc()).apply(ScalarOp::Sigmoid, element[0]);
}

//===---- SVMOutput ---------------------------------------------------------------------------===//

LogicalResult SvmOutputOp::relateShapes(ShapeRelation &relation) {
  Value data = getData(), label = getLabel(), output = getOutput();
  // svm_output:same-shape
  if (failed(relation.sameShape(data, output)) || failed(relation.sameType(data, output)) ||
      failed(wideFloatType(relation, data)))
    return failure();
  // svm_output:rank
  if (failed(relation.fixRank(data, 2)))
    return failure();
  // svm_output:label-shape
  return failed(relation.fixRank(label, 1)) ? failure() : relateLabels(relation, label, data);
}
BatchPosition SvmOutputOp::batchOfResult(unsigned, Positions operands) {
  BatchPosition position = operands[0] ? operands[0] : operands[1];
  return unlessOn(position, 1);
}
Value SvmOutputOp::emitScalar(OpBuilder &, ValueRange element) { return element[0]; }
int64_t SvmOutputOp::flops() { return 4 * elementsOf(getData()); }
StringRef SvmOutputOp::metricKind() { return "loss"; }
int64_t SvmOutputOp::classCount() { return 0; }
bool SvmOutputOp::ignoresGradient() { return true; }
bool SvmOutputOp::normalises() { return false; }

std::pair<Value, Value> SvmOutputOp::signsAndShortfalls(OpBuilder &builder) {
  auto type = rankedType(getData());
  std::string_view dtype = dtypeLongName(*dtypeOf(type.getElementType()));
  Value chosen = builder.create<OneHotOp>(
      getLoc(), type, getLabel(), builder.getI64IntegerAttr(type.getDimSize(1)),
      builder.getF64FloatAttr(1), builder.getF64FloatAttr(-1),
      builder.getStringAttr(StringRef(dtype.data(), dtype.size())));
  Expression sign{chosen, &builder}, x{getData(), &builder};
  Expression shortfall = getMargin().convertToDouble() - sign * x;
  return {chosen, shortfall.withScalar<MaximumScalarOp>(0).value};
}

//===---- MakeLoss ----------------------------------------------------------------------------===//

LogicalResult MakeLossOp::relateShapes(ShapeRelation &relation) {
  return failed(wideFloatType(relation, getData())) ? failure()
                                                    : relateEqual(relation, *this, Numbers::Float);
}
BatchPosition MakeLossOp::batchOfResult(unsigned, Positions operands) { return operands[0]; }
Value MakeLossOp::emitScalar(OpBuilder &, ValueRange element) { return element[0]; }
int64_t MakeLossOp::flops() { return elementsOf(getOutput()); }
StringRef MakeLossOp::metricKind() { return "loss"; }
int64_t MakeLossOp::classCount() { return 0; }
bool MakeLossOp::ignoresGradient() { return true; }
bool MakeLossOp::normalises() { return getNormalization() != "null"; }

//===---- softmax_cross_entropy ---------------------------------------------------------------===//

LogicalResult SoftmaxCrossEntropyOp::relateShapes(ShapeRelation &relation) {
  Value data = getData(), label = getLabel(), output = getOutput();
  if (failed(relation.sameType(data, output)) || failed(wideFloatType(relation, data)))
    return failure();
  // softmax_cross_entropy:rank
  if (failed(relation.fixRank(data, 2)))
    return failure();
  // softmax_cross_entropy:label-shape
  if (failed(relation.fixRank(label, 1)) || failed(relateLabels(relation, label, data)))
    return failure();
  // softmax_cross_entropy:output-shape
  return relation.fixShape(output, {1}, "");
}
BatchPosition SoftmaxCrossEntropyOp::batchOfResult(unsigned, Positions) {
  return BatchPosition::none();
}
int64_t SoftmaxCrossEntropyOp::flops() { return 5 * elementsOf(getData()); }
StringRef SoftmaxCrossEntropyOp::metricKind() { return "softmax"; }
int64_t SoftmaxCrossEntropyOp::classCount() { return shapeOf(getData())[1]; }
bool SoftmaxCrossEntropyOp::ignoresGradient() { return false; }
bool SoftmaxCrossEntropyOp::normalises() { return false; }

} // namespace lstmc::sym
