// Kernels of the ops in LossOps.td, and of their gradients and metrics in TrainingOps.td.
#include "ir/sym/Create.h"
#include "ir/sym/KernelBuilder.h"
#include "ir/sym/SymOps.h"

namespace lstmc::sym {

namespace {

/// Extents around an axis.
struct Around {
  Around(const View &view, int64_t axis) {
    for (int64_t i = 0; i < view.rank(); ++i)
      (i < axis ? before : i > axis ? after : extent) *= view.shape[size_t(i)];
  }
  int64_t before = 1, extent = 1, after = 1;
};

/// [6], or [rows, 6].
View metricOutput(KernelBuilder &builder, mlir::Value metric) {
  View view = builder.view(metric);
  return builder.output(view, view.shape);
}

SoftmaxNormalization normalizationOf(llvm::StringRef name) {
  return name == "batch"   ? SoftmaxNormalization::Batch
         : name == "valid" ? SoftmaxNormalization::Valid
                           : SoftmaxNormalization::Null;
}

} // namespace

llvm::LogicalResult SoftmaxOutputOp::emitKernels(KernelBuilder &builder) {
  View x = builder.view(getData()), y = builder.view(getOutput());
  int64_t classes = getMultiOutput()     ? x.shape[1]
                    : getPreserveShape() ? x.shape.back()
                                         : x.elements() / x.shape[0];
  if (getMultiOutput()) {
    x = x.moveLast(1);
    y = y.moveLast(1);
  }
  llvm::SmallVector<int64_t, 2> shape = {x.elements() / classes, classes};
  builder.launch(SoftmaxArguments{.log = false, .temperature = 1},
                 {builder.reshaped(x, shape), {}, builder.output(y, shape)});
  return mlir::success();
}

llvm::LogicalResult SoftmaxOutputGradientOp::emitKernels(KernelBuilder &builder) {
  View p = builder.view(getP()), label = builder.view(getLabel());
  Around a(p, normalAxis(int64_t(getAxis()), p.rank()));
  llvm::SmallVector<int64_t, 3> shape = {a.before, a.extent, a.after};
  label = label.shape == p.shape ? builder.reshaped(label, shape)
                                 : builder.reshaped(label, {a.before, a.after});
  builder.launch(
      SoftmaxOutputGradientArguments{.useIgnore = getUseIgnore(),
                                     .normalization = normalizationOf(getNormalization()),
                                     .multi = getMulti(),
                                     .ignoreLabel = getIgnoreLabel().convertToDouble(),
                                     .gradScale = getGradScale().convertToDouble(),
                                     .smoothAlpha = getSmoothAlpha().convertToDouble()},
      {builder.reshaped(p, shape), label, builder.viewOrAbsent(getValid()),
       builder.output(builder.view(getDx()), shape)});
  return mlir::success();
}

llvm::LogicalResult ValidCountOp::emitKernels(KernelBuilder &builder) {
  View label = builder.view(getLabel());
  int64_t last = label.shape.empty() ? 1 : label.shape.back();
  builder.launch(ValidCountArguments{.ignoreLabel = getIgnoreLabel().convertToDouble()},
                 {builder.reshaped(label, {label.elements() / last, last}),
                  builder.output(builder.view(getCount()), {1})});
  return mlir::success();
}

llvm::LogicalResult SoftmaxCrossEntropyOp::emitKernels(KernelBuilder &builder) {
  builder.launch(KernelId::SoftmaxCrossEntropy, {builder.view(getData()), builder.view(getLabel()),
                                                 builder.output(builder.view(getOutput()), {1})});
  return mlir::success();
}

llvm::LogicalResult SoftmaxGradientOp::emitKernels(KernelBuilder &builder) {
  View y = builder.view(getY()), dy = builder.view(getDy()), dx = builder.view(getDx());
  int64_t axis = normalAxis(int64_t(getAxis()), y.rank()), classes = y.shape[size_t(axis)];
  llvm::SmallVector<int64_t, 2> shape = {y.elements() / classes, classes};
  View length = builder.viewOrAbsent(getLength());
  if (length)
    length = builder.reshaped(length, {shape[0]});
  builder.launch(
      SoftmaxGradientArguments{.log = getLog(), .temperature = getTemperature().convertToDouble()},
      {builder.reshaped(y.moveLast(axis), shape), builder.reshaped(dy.moveLast(axis), shape),
       length, builder.output(dx.moveLast(axis), shape)});
  return mlir::success();
}

llvm::LogicalResult LayerNormGradientOp::emitKernels(KernelBuilder &builder) {
  View x = builder.view(getX());
  int64_t axis = normalAxis(int64_t(getAxis()), x.rank()), width = x.shape[size_t(axis)],
          rows = x.elements() / width;
  auto input = [&](mlir::Value value) {
    return builder.reshaped(builder.view(value).moveLast(axis), {rows, width});
  };
  auto perRow = [&](mlir::Value value) { return builder.reshaped(builder.view(value), {rows}); };
  View gammaRows = builder.view(getDgammaRows());
  if (gammaRows.shape == x.shape)
    gammaRows = gammaRows.moveLast(axis);
  builder.launch(KernelId::LayerNormGradient,
                 {input(getX()), builder.view(getGamma()), perRow(getMean()), perRow(getRstd()),
                  input(getDy()),
                  builder.output(builder.view(getDx()).moveLast(axis), {rows, width}),
                  builder.output(gammaRows, {rows, width})});
  return mlir::success();
}

llvm::LogicalResult PickGradientOp::emitKernels(KernelBuilder &builder) {
  View dx = builder.view(getDx());
  Around a(dx, normalAxis(int64_t(getAxis()), dx.rank()));
  builder.launch(PickGradientArguments{.wrap = getWrap()},
                 {builder.reshaped(builder.view(getDy()), {a.before, a.after}),
                  builder.reshaped(builder.view(getIndices()), {a.before, a.after}),
                  builder.output(dx, {a.before, a.extent, a.after})});
  return mlir::success();
}

llvm::LogicalResult SoftmaxMetricOp::emitKernels(KernelBuilder &builder) {
  View x = builder.view(getX()), label = builder.view(getLabel());
  const bool probabilities = label.shape == x.shape;
  int64_t axis = normalAxis(int64_t(getAxis()), x.rank()), classes = x.shape[size_t(axis)];
  auto o = int64_t(getOuter()), b = range().rows(), q = int64_t(getInner());
  builder.launch(SoftmaxMetricArguments{.range = range(),
                                        .useIgnore = getUseIgnore(),
                                        .valid = getValid(),
                                        .ignoreLabel = getIgnoreLabel().convertToDouble(),
                                        .smoothAlpha = getSmoothAlpha().convertToDouble(),
                                        .scale = getScale().convertToDouble()},
                 {builder.reshaped(x.moveLast(axis), {o, b, q, classes}),
                  probabilities ? builder.reshaped(label.moveLast(axis), {o, b, q, classes})
                                : builder.reshaped(label, {o, b, q}),
                  metricOutput(builder, getMetric())});
  return mlir::success();
}

llvm::LogicalResult RegressionMetricOp::emitKernels(KernelBuilder &builder) {
  auto o = int64_t(getOuter()), b = range().rows(), q = int64_t(getInner());
  builder.launch(RegressionMetricArguments{.range = range(),
                                           .loss = RegressionLoss(int64_t(getLoss())),
                                           .scale = getScale().convertToDouble()},
                 {builder.reshaped(builder.view(getX()), {o, b, q}),
                  builder.reshaped(builder.view(getLabel()), {o, b, q}),
                  metricOutput(builder, getMetric())});
  return mlir::success();
}

llvm::LogicalResult LossMetricOp::emitKernels(KernelBuilder &builder) {
  auto o = int64_t(getOuter()), b = range().rows(), q = int64_t(getInner());
  builder.launch(
      LossMetricArguments{.range = range(),
                          .valid = getValid(),
                          .validThresh = getValidThresh().convertToDouble(),
                          .scale = getScale().convertToDouble()},
      {builder.reshaped(builder.view(getX()), {o, b, q}), metricOutput(builder, getMetric())});
  return mlir::success();
}

} // namespace lstmc::sym
