// Kernels of sym.send and sym.receive.
#include "ir/sym/KernelBuilder.h"
#include "ir/sym/SymOps.h"

namespace lstmc::sym {

llvm::LogicalResult SendOp::emitKernels(KernelBuilder &builder) {
  builder.launch(SendArguments{.peer = int64_t(getPeer()), .message = int64_t(getMessage())},
                 {builder.view(getValue())});
  return mlir::success();
}

llvm::LogicalResult ReceiveOp::emitKernels(KernelBuilder &builder) {
  builder.launch(ReceiveArguments{.peer = int64_t(getPeer()), .message = int64_t(getMessage())},
                 {builder.view(getValue())});
  return mlir::success();
}

} // namespace lstmc::sym
