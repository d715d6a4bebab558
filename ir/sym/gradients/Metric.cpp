// Measures of loss heads, as defined by the metric kernels, and results of heads without a label.

#include <cmath>

#include "executor/abi/Kernels.h"
#include "ir/sym/Create.h"
#include "ir/sym/Diagnose.h"
#include "ir/sym/Expression.h"
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
static RankedTensorType sumsType(OpBuilder &builder, const HeadMeasure &measure) {
  return RankedTensorType::get({measure.fields}, builder.getF64Type());
}

/// The kernel divides by `elements`. This factor on its sum makes the reported value factor * sum /
/// divisor.
static llvm::APFloat scaleOf(const llvm::APFloat &factor, int64_t elements, int64_t divisor) {
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

static SmallVector<int64_t> withoutClasses(Value x, int64_t axis) {
  SmallVector<int64_t> extents(shapeOf(x));
  extents.erase(extents.begin() + axis);
  return extents;
}

static Value softmaxMetric(OpBuilder &builder, Location loc, const SoftmaxLoss &loss,
                           const HeadMeasure &measure) {
  SmallVector<int64_t> rowExtents = withoutClasses(loss.x, loss.axis);
  BatchPosition batch = withoutAxes(loss.rows, {loss.axis}, false);
  // Without a batch here, the batch is at most on the class axis, so rows cannot be split.
  int64_t shards = batch ? measure.shards : 1;
  Rows rows(rowExtents, batch);
  Value label = loss.label;
  if (shapeOf(label) != shapeOf(loss.x))
    label = createReshape(builder, loc, label, rowExtents);
  return builder.create<SoftmaxMetricOp>(
      loc, sumsType(builder, measure), loss.x, label, loss.axis, rows.outer, rows.batch, rows.inner,
      shards, loss.useIgnore, loss.valid, loss.ignoreLabel, loss.smoothAlpha, loss.scale);
}

template <typename Op>
static Value withScalar(OpBuilder &builder, Location loc, Value x, double scalar) {
  return builder.create<Op>(loc, x.getType(), x, builder.getF64FloatAttr(scalar),
                            builder.getBoolAttr(true));
}

/// Concatenates a head's score for the second class and the label's truth, one number per row each:
/// f64 [2, outer, batch, inner].
static Value joinScores(OpBuilder &builder, Location loc, Value score, Value truth,
                        const Rows &rows) {
  SmallVector<Value> both;
  for (Value part : {score, truth})
    both.push_back(createReshape(builder, loc, createCast(builder, loc, part, builder.getF64Type()),
                                 {1, rows.outer, rows.batch, rows.inner}));
  return createConcat(builder, loc, both, 0);
}

/// `p` is the softmax of loss.x, which has two classes.
static Value softmaxScores(OpBuilder &builder, Location loc, const SoftmaxLoss &loss, Value p) {
  auto ofClass = [&](Value x, int64_t c) {
    return createSliceAxis(builder, loc, x, loss.axis, c, c + 1);
  };
  Rows rows(withoutClasses(loss.x, loss.axis), withoutAxes(loss.rows, {loss.axis}, false));
  Value label = loss.label, truth;
  if (shapeOf(label) == shapeOf(loss.x)) { // probabilities: the likelier class, the first of equals
    Value second = ofClass(label, 1);
    truth = builder.create<GreaterOp>(loc, second.getType(), second, ofClass(label, 0));
  } else {
    label = createCast(builder, loc, label, builder.getF64Type());
    label = builder.create<TruncOp>(loc, label.getType(),
                                    label); // in the form that the metric kernel reads
    truth = withScalar<EqualScalarOp>(builder, loc, label, 1);
    if (loss.useIgnore) {
      double ignored = std::trunc(loss.ignoreLabel.convertToDouble());
      Value left = withScalar<EqualScalarOp>(builder, loc, label, ignored);
      truth = builder.create<ElemwiseSubOp>(loc, truth.getType(), truth,
                                            withScalar<MulScalarOp>(builder, loc, left, 2));
    }
  }
  return joinScores(builder, loc, ofClass(p, 1), truth, rows);
}

/// The head's data reshaped such that the classes are one axis.
static Value withClasses(OpBuilder &builder, SoftmaxOutputOp op, Value value) {
  if (op.getMultiOutput() || op.getPreserveShape() || rankOf(value) <= 2)
    return value;
  ArrayRef<int64_t> shape = shapeOf(value); // all axes but the first are one
  return createReshape(builder, op.getLoc(), value, {shape[0], product(shape.drop_front())});
}

/// Rows and labels of the loss, without its factors.
static SoftmaxLoss rowsOf(OpBuilder &builder, SoftmaxOutputOp op, const HeadMeasure &measure) {
  bool kept = op.getPreserveShape() && !op.getMultiOutput(), given = op.holdsProbabilities();
  Value x = withClasses(builder, op, op.getData());
  return {.x = x,
          .label = given ? withClasses(builder, op, op.getLabel()) : op.getLabel(),
          .axis = kept ? rankOf(x) - 1 : 1,
          .rows = x == op.getData() ? measure.rows
                                    : reshaped(measure.rows, shapeOf(op.getData()), shapeOf(x)),
          .useIgnore = op.getUseIgnore() && !given,
          .valid = op.getNormalization() == "valid" && !given,
          .ignoreLabel = op.getIgnoreLabel(),
          .smoothAlpha = op.getMultiOutput() || given ? llvm::APFloat(0.0) : op.getSmoothAlpha(),
          .scale = llvm::APFloat(1.0)};
}

Value SoftmaxOutputOp::buildMetric(OpBuilder &builder, const HeadMeasure &measure) {
  SmallVector<int64_t> whole = measure.wholeShape(getData());
  bool kept = getPreserveShape() && !getMultiOutput();
  int64_t positions = getMultiOutput() ? product(ArrayRef(whole).drop_front(2)) : 1;
  int64_t labels = kept ? product(whole) / whole.back() : whole[0] * positions;
  SoftmaxLoss loss = rowsOf(builder, *this, measure);
  // The divisor is that of the gradient.
  int64_t divisor = holdsProbabilities()           ? measure.divisor
                    : getNormalization() == "null" ? product({positions, measure.divisor})
                                                   : labels;
  loss.scale = scaleOf(getGradScale(), labels, divisor);
  return softmaxMetric(builder, getLoc(), loss, measure);
}

Value SoftmaxOutputOp::buildScores(OpBuilder &builder, const HeadMeasure &measure) {
  if (classCount() != 2)
    return {};
  return softmaxScores(builder, getLoc(), rowsOf(builder, *this, measure),
                       withClasses(builder, *this, getOutput()));
}

/// The loss of softmax_cross_entropy, without the factor of the incoming gradient.
static SoftmaxLoss rowsOf(SoftmaxCrossEntropyOp op, const HeadMeasure &measure) {
  return {.x = op.getData(),
          .label = op.getLabel(),
          .axis = 1,
          .rows = measure.rows,
          .scale = llvm::APFloat(1.0)};
}

Value SoftmaxCrossEntropyOp::buildMetric(OpBuilder &builder, const HeadMeasure &measure) {
  SoftmaxLoss loss = rowsOf(*this, measure);
  loss.scale = scaleOf(llvm::APFloat(1.0), measure.wholeShape(getData())[0], measure.divisor);
  return softmaxMetric(builder, getLoc(), loss, measure);
}

static Value softmaxOf(OpBuilder &builder, Location loc, Value x, int64_t axis) {
  return builder.create<SoftmaxOp>(loc, x.getType(), x, Value(), builder.getI64IntegerAttr(axis),
                                   FloatAttr(), StringAttr(), builder.getBoolAttr(false));
}

Value SoftmaxCrossEntropyOp::buildScores(OpBuilder &builder, const HeadMeasure &measure) {
  if (classCount() != 2)
    return {};
  return softmaxScores(builder, getLoc(), rowsOf(*this, measure),
                       softmaxOf(builder, getLoc(), getData(), 1));
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
      op.getLoc(), sumsType(builder, measure), x, label, rows.outer, rows.batch, rows.inner,
      measure.shards, int64_t(kind),
      scaleOf(op.getGradScale(), elements, product({perSample, measure.divisor})));
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

Value LinearRegressionOutputOp::buildScores(OpBuilder &, const HeadMeasure &) { return {}; }
Value MaeRegressionOutputOp::buildScores(OpBuilder &, const HeadMeasure &) { return {}; }
Value LogisticRegressionOutputOp::buildScores(OpBuilder &builder, const HeadMeasure &measure) {
  Value label = createCast(builder, getLoc(), getLabel(), rankedType(getData()).getElementType());
  label = createReshape(builder, getLoc(), label,
                        shapeOf(getData())); // in the form that the metric kernel reads
  return joinScores(builder, getLoc(), getOutput(),
                    withScalar<GreaterScalarOp>(builder, getLoc(), label, 0.5),
                    Rows(shapeOf(getData()), measure.rows));
}
Value MakeLossOp::buildScores(OpBuilder &, const HeadMeasure &) { return {}; }

Value MakeLossOp::buildMetric(OpBuilder &builder, const HeadMeasure &measure) {
  Rows rows(shapeOf(getData()), measure.rows);
  SmallVector<int64_t> whole = measure.wholeShape(getData());
  int64_t elements = product(whole);
  bool valid = getNormalization() == "valid";
  int64_t divisor = valid                           ? elements // the kernel divides by fewer
                    : getNormalization() == "batch" ? whole.front()
                                                    : measure.divisor;
  return builder.create<LossMetricOp>(getLoc(), sumsType(builder, measure), getData(), rows.outer,
                                      rows.batch, rows.inner, measure.shards, valid,
                                      getValidThresh(), scaleOf(getGradScale(), elements, divisor));
}

Value SvmOutputOp::buildMetric(OpBuilder &builder, const HeadMeasure &measure) {
  Rows rows(shapeOf(getData()), measure.rows);
  Expression loss{signsAndShortfalls(builder).second, &builder};
  if (!getUseLinear())
    loss = loss * loss;
  return builder.create<LossMetricOp>(
      getLoc(), sumsType(builder, measure), loss.value, rows.outer, rows.batch, rows.inner,
      measure.shards, /*valid=*/false, llvm::APFloat(0.0),
      scaleOf(getRegularizationCoefficient(), product(measure.wholeShape(getData())),
              measure.divisor));
}
Value SvmOutputOp::buildScores(OpBuilder &, const HeadMeasure &) { return {}; }

Value SoftmaxOutputOp::buildValue(OpBuilder &builder) {
  Value x = getData();
  int64_t rank = rankOf(x), axis = getPreserveShape() && !getMultiOutput() ? rank - 1 : 1;
  if (!getMultiOutput() && !getPreserveShape()) // all axes but the first are one
    x = createReshape(builder, getLoc(), x, {shapeOf(x)[0], product(shapeOf(x).drop_front())});
  return createReshape(builder, getLoc(), softmaxOf(builder, getLoc(), x, axis),
                       shapeOf(getOutput()));
}
Value LinearRegressionOutputOp::buildValue(OpBuilder &) { return getData(); }
Value MaeRegressionOutputOp::buildValue(OpBuilder &) { return getData(); }
Value LogisticRegressionOutputOp::buildValue(OpBuilder &builder) {
  return builder.create<SigmoidOp>(getLoc(), getData().getType(), getData());
}
Value SvmOutputOp::buildValue(OpBuilder &) { return getData(); }
Value MakeLossOp::buildValue(OpBuilder &) { return getData(); }
Value SoftmaxCrossEntropyOp::buildValue(OpBuilder &) { return {}; }

} // namespace lstmc::sym
