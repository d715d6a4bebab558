// Kernels of the ops in IndexOps.td.
#include "executor/abi/Sizes.h"
#include "ir/sym/Create.h"
#include "ir/sym/KernelBuilder.h"
#include "ir/sym/SymOps.h"

namespace lstmc::sym {

llvm::LogicalResult EmbeddingOp::emitKernels(KernelBuilder &builder) {
  View indices = builder.view(getData()), weight = builder.view(getWeight());
  int64_t n = indices.elements(), width = weight.shape[1];
  builder.launch(GatherArguments{.mode = IndexMode::Clip},
                 {weight.broadcastTo({1, weight.shape[0], width}), builder.reshaped(indices, {n}),
                  builder.output(builder.view(getOutput()), {1, n, width})});
  return mlir::success();
}

static IndexMode modeOf(llvm::StringRef mode) {
  return mode == "wrap" ? IndexMode::Wrap : mode == "raise" ? IndexMode::Raise : IndexMode::Clip;
}

llvm::LogicalResult TakeOp::emitKernels(KernelBuilder &builder) {
  View a = builder.view(getA()), indices = builder.view(getIndices());
  int64_t axis = normalAxis(getAxis(), a.rank()), n = indices.elements();
  llvm::ArrayRef<int64_t> shape = a.shape;
  int64_t before = product(shape.take_front(size_t(axis))),
          after = product(shape.drop_front(size_t(axis) + 1));
  builder.launch(GatherArguments{.mode = modeOf(getMode())},
                 {builder.reshaped(a, {before, shape[size_t(axis)], after}),
                  builder.reshaped(indices, {n}),
                  builder.output(builder.view(getOutput()), {before, n, after})});
  return mlir::success();
}

llvm::LogicalResult PickOp::emitKernels(KernelBuilder &builder) {
  View data = builder.view(getData());
  int64_t axis = normalAxis(getAxis(), data.rank());
  llvm::ArrayRef<int64_t> shape = data.shape;
  int64_t before = product(shape.take_front(size_t(axis))),
          after = product(shape.drop_front(size_t(axis) + 1));
  builder.launch(PickArguments{.wrap = getMode() == "wrap"},
                 {builder.reshaped(data, {before, shape[size_t(axis)], after}),
                  builder.reshaped(builder.view(getIndex()), {before, after}),
                  builder.output(builder.view(getOutput()), {before, after})});
  return mlir::success();
}

llvm::LogicalResult OneHotOp::emitKernels(KernelBuilder &builder) {
  View indices = builder.view(getIndices());
  int64_t n = indices.elements();
  builder.launch(
      OneHotArguments{.on = getOnValue().convertToDouble(), .off = getOffValue().convertToDouble()},
      {builder.reshaped(indices, {n}),
       builder.output(builder.view(getOutput()), {n, int64_t(getDepth())})});
  return mlir::success();
}

} // namespace lstmc::sym
