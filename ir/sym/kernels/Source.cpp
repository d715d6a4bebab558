// Kernels of the ops in SourceOps.td.
#include <cmath>

#include "ir/sym/KernelBuilder.h"
#include "ir/sym/SymOps.h"

namespace lstmc::sym {

static llvm::LogicalResult emitFill(KernelBuilder &builder, mlir::Value output, double value) {
  builder.launch(FillArguments{.value = value}, {builder.view(output)});
  return mlir::success();
}

llvm::LogicalResult ZerosOp::emitKernels(KernelBuilder &builder) {
  return emitFill(builder, getOutput(), 0);
}
llvm::LogicalResult OnesOp::emitKernels(KernelBuilder &builder) {
  return emitFill(builder, getOutput(), 1);
}
llvm::LogicalResult FullOp::emitKernels(KernelBuilder &builder) {
  return emitFill(builder, getOutput(), getValue().convertToDouble());
}

llvm::LogicalResult ArangeOp::emitKernels(KernelBuilder &builder) {
  View output = builder.view(getOutput());
  View dense = output.dense() ? output : builder.temporary(output.shape, output.dtype);
  double start = getStop() ? getStart().convertToDouble() : 0;
  double step = getStep().convertToDouble();
  if (!isFloat(output.dtype)) { // MXNet converts both first
    start = std::trunc(start);
    step = std::trunc(step);
  }
  builder.launch(ArangeArguments{.repeat = int64_t(getRepeat()), .start = start, .step = step},
                 {dense});
  if (!output.dense())
    builder.copy(dense, output);
  return mlir::success();
}

} // namespace lstmc::sym
