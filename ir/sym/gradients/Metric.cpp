// What loss heads measure (the metric kernels define it), and the results of heads without a label.

#include "executor/abi/Kernels.h"
#include "ir/sym/Create.h"
#include "ir/sym/Diagnose.h"
#include "ir/sym/RuleSupport.h"

using namespace mlir;

namespace lstmc::sym {

namespace {
/// Where the rows of the batch are among all rows of a tensor: [outer, batch, inner]. Without a
/// batch, all rows are `outer`.
struct Rows {
  int64_t outer, batch = 1, inner = 1;
  Rows(ArrayRef<int64_t> extents, BatchPosition position) : outer(product(extents)) {
    if (!position)
      return;
    outer = product(extents.take_front(position.axis)) * position.outer;
    batch = position.batch;
    inner = product(extents.drop_front(position.axis + 1)) * position.inner;
  }
};
} // namespace

/// The type of a metric kernel's sums in a net over the whole batch.
static RankedTensorType sumsType(OpBuilder &builder) {
  return RankedTensorType::get({kMetricFields}, builder.getF64Type());
}

/// The kernel divides by `elements`. This factor on its sum makes the reported value factor * sum /
/// divisor.
static llvm::APFloat scaleOf(llvm::APFloat factor, int64_t elements, int64_t divisor) {
  return llvm::APFloat(factor.convertToDouble() * double(elements) / double(divisor));
}

namespace {
/// A softmax, its labels, and how the loss is counted.
struct SoftmaxLoss {
  Value x, label; ///< logits with their classes at `axis`; a class for each row, or probabilities
  int64_t axis;
  BatchPosition rows; ///< of x
  bool useIgnore = false, valid = false;
  llvm::APFloat ignoreLabel{-1.0}, smoothAlpha{0.0}, scale;
};
} // namespace

static Value softmaxMetric(OpBuilder &builder, Location loc, const SoftmaxLoss &loss,
                           int64_t shards) {
  SmallVector<int64_t> rowExtents(shapeOf(loss.x));
  rowExtents.erase(rowExtents.begin() + loss.axis);
  BatchPosition batch = withoutAxes(loss.rows, {loss.axis}, false);
  if (!batch)
    shards = 1; // the batch is at most on the class axis, so no rows can be shared out
  Rows rows(rowExtents, batch);
  Value label = loss.label;
  if (shapeOf(label) != shapeOf(loss.x))
    label = createReshape(builder, loc, label, rowExtents);
  return builder.create<SoftmaxMetricOp>(
      loc, sumsType(builder), loss.x, label, loss.axis, rows.outer, rows.batch, rows.inner, shards,
      loss.useIgnore, loss.valid, loss.ignoreLabel, loss.smoothAlpha, loss.scale);
}

Value SoftmaxOutputOp::buildMetric(OpBuilder &builder, const HeadMeasure &measure) {
  Value x = getData(), label = getLabel();
  SmallVector<int64_t> whole = measure.wholeShape(x);
  bool kept = getPreserveShape() && !getMultiOutput();
  int64_t rank = rankOf(x), axis = kept ? rank - 1 : 1;
  BatchPosition rows = measure.rows;
  bool probabilities = holdsProbabilities();
  int64_t positions = getMultiOutput() ? product(ArrayRef(whole).drop_front(2)) : 1;
  int64_t labels = kept ? product(whole) / whole.back() : whole[0] * positions;
  if (!getMultiOutput() && !getPreserveShape() && rank > 2) { // all axes but the first are one
    SmallVector<int64_t> flat = {shapeOf(x)[0], product(shapeOf(x).drop_front())};
    rows = reshaped(rows, shapeOf(x), flat);
    x = createReshape(builder, getLoc(), x, flat);
    if (probabilities)
      label = createReshape(builder, getLoc(), label, flat);
  }
  // The divisor is that of the gradient.
  bool valid = getNormalization() == "valid" && !probabilities;
  int64_t divisor = probabilities                  ? measure.divisor
                    : getNormalization() == "null" ? product({positions, measure.divisor})
                                                   : labels;
  llvm::APFloat none(0.0);
  return softmaxMetric(builder, getLoc(),
                       {x, label, axis, rows, getUseIgnore() && !probabilities, valid,
                        getIgnoreLabel(),
                        getMultiOutput() || probabilities ? none : getSmoothAlpha(),
                        scaleOf(getGradScale(), labels, divisor)},
                       measure.shards);
}

Value SoftmaxCrossEntropyOp::buildMetric(OpBuilder &builder, const HeadMeasure &measure) {
  SoftmaxLoss loss{
      .x = getData(),
      .label = getLabel(),
      .axis = 1,
      .rows = measure.rows,
      .scale = scaleOf(llvm::APFloat(1.0), measure.wholeShape(getData())[0], measure.divisor)};
  return softmaxMetric(builder, getLoc(), loss, measure.shards);
}

template <typename Op>
static Value regressionMetric(OpBuilder &builder, Op op, const HeadMeasure &measure,
                              RegressionLoss kind) {
  Value x = op.getData();
  Rows rows(shapeOf(x), measure.rows);
  SmallVector<int64_t> whole = measure.wholeShape(op.getLabel());
  Value label = createCast(builder, op.getLoc(), op.getLabel(), rankedType(x).getElementType());
  label = createReshape(builder, op.getLoc(), label, shapeOf(x));
  int64_t elements = product(whole), perSample = elements / whole.front();
  return builder.create<RegressionMetricOp>(
      op.getLoc(), sumsType(builder), x, label, rows.outer, rows.batch, rows.inner, measure.shards,
      int64_t(kind), scaleOf(op.getGradScale(), elements, product({perSample, measure.divisor})));
}

Value LinearRegressionOutputOp::buildMetric(OpBuilder &builder, const HeadMeasure &measure) {
  return regressionMetric(builder, *this, measure, RegressionLoss::HalfSquare);
}
Value MaeRegressionOutputOp::buildMetric(OpBuilder &builder, const HeadMeasure &measure) {
  return regressionMetric(builder, *this, measure, RegressionLoss::Absolute);
}
Value LogisticRegressionOutputOp::buildMetric(OpBuilder &builder, const HeadMeasure &measure) {
  return regressionMetric(builder, *this, measure, RegressionLoss::Logistic);
}

Value MakeLossOp::buildMetric(OpBuilder &builder, const HeadMeasure &measure) {
  Rows rows(shapeOf(getData()), measure.rows);
  SmallVector<int64_t> whole = measure.wholeShape(getData());
  int64_t elements = product(whole);
  bool valid = getNormalization() == "valid";
  int64_t divisor = valid                           ? elements // the kernel divides by fewer
                    : getNormalization() == "batch" ? whole.front()
                                                    : measure.divisor;
  return builder.create<LossMetricOp>(getLoc(), sumsType(builder), getData(), rows.outer,
                                      rows.batch, rows.inner, measure.shards, valid,
                                      getValidThresh(), scaleOf(getGradScale(), elements, divisor));
}

Value SoftmaxOutputOp::buildValue(OpBuilder &builder) {
  Value x = getData();
  int64_t rank = rankOf(x), axis = getPreserveShape() && !getMultiOutput() ? rank - 1 : 1;
  if (!getMultiOutput() && !getPreserveShape()) // all axes but the first are one
    x = createReshape(builder, getLoc(), x, {shapeOf(x)[0], product(shapeOf(x).drop_front())});
  Value p =
      builder.create<SoftmaxOp>(getLoc(), x.getType(), x, Value(), builder.getI64IntegerAttr(axis),
                                FloatAttr(), StringAttr(), builder.getBoolAttr(false));
  return createReshape(builder, getLoc(), p, shapeOf(getOutput()));
}
Value LinearRegressionOutputOp::buildValue(OpBuilder &) { return getData(); }
Value MaeRegressionOutputOp::buildValue(OpBuilder &) { return getData(); }
Value LogisticRegressionOutputOp::buildValue(OpBuilder &builder) {
  return builder.create<SigmoidOp>(getLoc(), getData().getType(), getData());
}
Value MakeLossOp::buildValue(OpBuilder &) { return getData(); }
Value SoftmaxCrossEntropyOp::buildValue(OpBuilder &) { return {}; }

} // namespace lstmc::sym
