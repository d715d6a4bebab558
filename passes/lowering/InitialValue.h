// How a parameter gets its first value, as one launch of the kernel `initialise`.
#pragma once

#include <string>

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"

#include "executor/abi/Kernels.h"

namespace lstmc::passes {

/// Attributes of the kernel, and how the initialiser reads in the source: "Uniform(scale=0.08)".
struct InitialValue {
  InitKind kind = InitKind::Constant;
  OrthogonalStart variant = OrthogonalStart::Uniform;
  double a = 0, b = 0;
  std::string text;
};

/// MXNet's rules (mxnet.md 6.6). `init` is `["name", {arguments}]` of the parameter itself, whose
/// rule holds whatever the name; without it, the name's suffix decides, and where that says
/// "weight", or nothing, `fallback` does: fit's initialiser, or Uniform(0.01) if it is null. Fails
/// after reporting an initialiser that cannot be used (E0319).
mlir::FailureOr<InitialValue> resolveInitialValue(llvm::StringRef parameter,
                                                  llvm::ArrayRef<int64_t> shape,
                                                  mlir::ArrayAttr init, mlir::ArrayAttr fallback,
                                                  mlir::Location location);

} // namespace lstmc::passes
