// Loss heads. The gradient starts here; all but softmax_cross_entropy ignore the incoming gradient.

#include "ir/sym/Create.h"
#include "ir/sym/RuleSupport.h"
#include "ir/sym/gradients/Expression.h"

namespace lstmc::sym {

using llvm::LogicalResult;
using llvm::success;
using mlir::Value;
using E = Expression;

/// The divisor of the gradient if this program has a part of the batch: the rows of the whole
/// batch, or all labels in it that count. Null if the gradient op can count them itself.
static Value divisorOf(SoftmaxOutputOp op, GradientBuilder &builder, Value label) {
  auto f64 = mlir::RankedTensorType::get({1}, builder.getF64Type());
  if (!builder.inParts() || op.getNormalization() == "null")
    return {};
  if (op.getNormalization() == "valid")
    return builder.create<ValidCountOp>(op.getLoc(), f64, label, op.getIgnoreLabelAttr());
  llvm::SmallVector<int64_t> whole = builder.wholeShape(op.getData());
  bool kept = op.getPreserveShape() && !op.getMultiOutput();
  int64_t rows = kept ? product(whole) / whole.back() : whole.front();
  return builder.create<FullOp>(op.getLoc(), f64, builder.getDenseI64ArrayAttr({1}),
                                builder.getF64FloatAttr(double(rows)), builder.getStringAttr(""),
                                builder.getStringAttr("float64"));
}

LogicalResult SoftmaxOutputOp::buildGradient(GradientBuilder &builder) {
  if (!builder.wants(getData()))
    return success();
  auto type = rankedType(getData());
  int64_t axis = getPreserveShape() && !getMultiOutput() ? type.getRank() - 1 : 1;
  Value p = getOutput(), label = getLabel();
  if (!getMultiOutput() && !getPreserveShape() &&
      type.getRank() > 2) { // all axes but the first are one
    llvm::SmallVector<int64_t> rows = {type.getDimSize(0),
                                       type.getNumElements() / type.getDimSize(0)};
    p = createReshape(builder, getLoc(), p, rows);
    if (holdsProbabilities())
      label = createReshape(builder, getLoc(), label, rows);
  }
  Value dx = builder.create<SoftmaxOutputGradientOp>(
      getLoc(), p.getType(), p, label, divisorOf(*this, builder, label),
      builder.getI64IntegerAttr(axis), getUseIgnoreAttr(), getNormalizationAttr(),
      getMultiOutputAttr(), getIgnoreLabelAttr(), getGradScaleAttr(), getSmoothAlphaAttr());
  builder.add(getData(), createReshape(builder, getLoc(), dx, type.getShape()));
  return success();
}

/// Contributes formula(y, label) * grad_scale / elements per sample.
template <typename Op, typename Formula>
static LogicalResult regression(Op op, GradientBuilder &builder, Formula formula) {
  if (!builder.wants(op.getData()))
    return success();
  auto type = rankedType(op.getData());
  Value label = op.getLabel();
  llvm::SmallVector<int64_t> whole = builder.wholeShape(label);
  int64_t perSample = product(whole) / whole.front();
  label = createCast(builder, op.getLoc(), label, type.getElementType());
  label = createReshape(builder, op.getLoc(), label, type.getShape());
  double scale = op.getGradScale().convertToDouble() / double(perSample);
  builder.add(op.getData(),
              (formula(E{op.getOutput(), &builder}, E{label, &builder}) * scale).value);
  return success();
}

LogicalResult LinearRegressionOutputOp::buildGradient(GradientBuilder &builder) {
  return regression(*this, builder, [](E y, E label) { return y - label; });
}
LogicalResult MaeRegressionOutputOp::buildGradient(GradientBuilder &builder) {
  return regression(*this, builder, [](E y, E label) { return (y - label).of<SignOp>(); });
}
LogicalResult LogisticRegressionOutputOp::buildGradient(GradientBuilder &builder) {
  return regression(*this, builder, [](E y, E label) { return y - label; });
}

/// Source: MXNet's svm_output.cc, L1_SVM and L2_SVM.
LogicalResult SvmOutputOp::buildGradient(GradientBuilder &builder) {
  if (!builder.wants(getData()))
    return success();
  auto [sign, shortfall] = signsAndShortfalls(builder);
  const E t{sign, &builder}, h{shortfall, &builder};
  const double scale = getRegularizationCoefficient().convertToDouble();
  builder.add(getData(), (getUseLinear() ? t * (h > 0.0) * -scale : t * h * (-2 * scale)).value);
  return success();
}

LogicalResult MakeLossOp::buildGradient(GradientBuilder &builder) {
  if (!builder.wants(getData()))
    return success();
  auto type = rankedType(getData());
  E x{getData(), &builder};
  double scale = getGradScale().convertToDouble();
  if (getNormalization() == "batch")
    scale /= double(builder.wholeShape(getData()).front());
  E constant = x.of<OnesLikeOp>() * scale;
  if (getNormalization() == "valid") {
    E valid = x > getValidThresh().convertToDouble();
    auto one = type.clone({1});
    Value count = builder.create<SumOp>(getLoc(), one, valid.value, mlir::DenseI64ArrayAttr(),
                                        builder.getBoolAttr(false), builder.getBoolAttr(false));
    E atLeastOne = E{count, &builder}.withScalar<MaximumScalarOp>(1.0);
    llvm::SmallVector<int64_t> ones(type.getRank(), 1);
    Value divisor = createReshape(builder, getLoc(), atLeastOne.value, ones);
    constant = {builder.create<BroadcastDivOp>(getLoc(), type, constant.value, divisor), &builder};
  }
  builder.add(getData(), constant.value);
  return success();
}

/// The gradient of a sum over rows is that of each row times the gradient of the sum. If the net
/// also returns the sum, the sum itself is minimised, which adds 1.
LogicalResult SoftmaxCrossEntropyOp::buildGradient(GradientBuilder &builder) {
  if (!builder.wants(getData()))
    return success();
  Value p = builder.create<SoftmaxOp>(getLoc(), getData().getType(), getData(), Value(),
                                      builder.getI64IntegerAttr(1), mlir::FloatAttr(),
                                      mlir::StringAttr(), builder.getBoolAttr(false));
  Value dx = builder.create<SoftmaxOutputGradientOp>(
      getLoc(), p.getType(), p, getLabel(), Value(), builder.getI64IntegerAttr(1),
      builder.getBoolAttr(false), builder.getStringAttr("null"), builder.getBoolAttr(false),
      builder.getF64FloatAttr(-1), builder.getF64FloatAttr(1), builder.getF64FloatAttr(0));
  if (Value dy = builder.resultGradient(0)) {
    if ((*this)->hasAttr(kHeadAttr))
      dy = (E{dy, &builder} + 1.0).value;
    dy = createReshape(builder, getLoc(), dy, {1, 1});
    dx = builder.create<BroadcastMulOp>(getLoc(), dx.getType(), dx, dy);
  }
  builder.add(getData(), dx);
  return success();
}

} // namespace lstmc::sym
