// Transfers as launches.
#include "ir/sym/KernelBuilder.h"
#include "ir/sym/SymOps.h"

namespace lstmc::sym {

llvm::LogicalResult SendOp::emitKernels(KernelBuilder &builder) {
  builder.launch(KernelId::Send, {builder.view(getValue())},
                 {int64_t(getPeer()), int64_t(getMessage())});
  return mlir::success();
}

llvm::LogicalResult ReceiveOp::emitKernels(KernelBuilder &builder) {
  builder.launch(KernelId::Receive, {builder.view(getValue())},
                 {int64_t(getPeer()), int64_t(getMessage())});
  return mlir::success();
}

} // namespace lstmc::sym
