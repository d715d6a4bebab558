// Kernels of the ops in SequenceOps.td.
#include "ir/sym/Create.h"
#include "ir/sym/KernelBuilder.h"
#include "ir/sym/SymOps.h"

namespace lstmc::sym {

namespace {

/// Steps first, then the batch: [T, B, rest...].
View stepsFirst(View view, int64_t axis) {
  llvm::SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, view.rank()));
  if (axis == 1)
    std::swap(order[0], order[1]);
  return view.transpose(order);
}

llvm::SmallVector<int64_t, 3> stepsBatchRest(const View &view) {
  return {view.shape[0], view.shape[1], view.elements() / (view.shape[0] * view.shape[1])};
}

} // namespace

llvm::LogicalResult SequenceMaskOp::emitKernels(KernelBuilder &builder) {
  View x = builder.view(getData());
  if (!getUseSequenceLength()) {
    builder.alias(getOutput(), x);
    return mlir::success();
  }
  x = stepsFirst(x, int64_t(getAxis()));
  auto shape = stepsBatchRest(x);
  builder.launch(
      SequenceMaskArguments{.value = getValue().convertToDouble()},
      {builder.reshaped(x, shape), builder.view(getSequenceLength()),
       builder.output(stepsFirst(builder.view(getOutput()), int64_t(getAxis())), shape)});
  return mlir::success();
}

llvm::LogicalResult SequenceLastOp::emitKernels(KernelBuilder &builder) {
  View x = stepsFirst(builder.view(getData()), int64_t(getAxis()));
  if (!getUseSequenceLength()) {
    View last = x.slice(0, x.shape[0] - 1, 1);
    builder.alias(getOutput(), last.reshape(llvm::ArrayRef<int64_t>(x.shape).drop_front()));
    return mlir::success();
  }
  auto shape = stepsBatchRest(x);
  builder.launch(KernelId::SequenceLast,
                 {builder.reshaped(x, shape), builder.view(getSequenceLength()),
                  builder.output(builder.view(getOutput()), {shape[1], shape[2]})});
  return mlir::success();
}

llvm::LogicalResult SequenceReverseOp::emitKernels(KernelBuilder &builder) {
  View x = builder.view(getData());
  if (!getUseSequenceLength()) {
    builder.alias(getOutput(), x.slice(0, x.shape[0] - 1, x.shape[0], -1));
    return mlir::success();
  }
  auto shape = stepsBatchRest(x);
  builder.launch(KernelId::SequenceReverse,
                 {builder.reshaped(x, shape), builder.view(getSequenceLength()),
                  builder.output(builder.view(getOutput()), shape)});
  return mlir::success();
}

llvm::LogicalResult SequenceLastGradientOp::emitKernels(KernelBuilder &builder) {
  View dx = stepsFirst(builder.view(getDx()), int64_t(getAxis()));
  auto shape = stepsBatchRest(dx);
  builder.launch(KernelId::SequenceLastGradient,
                 {builder.reshaped(builder.view(getDy()), {shape[1], shape[2]}),
                  builder.view(getLength()), builder.output(dx, shape)});
  return mlir::success();
}

} // namespace lstmc::sym
