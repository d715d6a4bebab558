// Which initialiser a parameter has: its own, one that its name asks for, or that of fit.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"

namespace lstmc::sym {

/// MXNet's rules. `init` is `["name", {arguments}]` of the parameter itself, which decides whatever
/// the name; without it the end of the name does ("bias": zero), and where that says nothing,
/// `fallback`: fit's, or Uniform(0.01) if it is null. Of "mixed" it is the one whose pattern
/// matches. Fails, without a message, if no pattern does.
mlir::FailureOr<mlir::ArrayAttr> initialRule(llvm::StringRef parameter, mlir::ArrayAttr init,
                                             mlir::ArrayAttr fallback, mlir::MLIRContext *context);

/// What the name alone says; empty where it says "weight", or nothing.
llvm::StringRef ruleOfName(llvm::StringRef parameter);

/// The name of `rule`, and its arguments; empty where it has none.
llvm::StringRef nameOfRule(mlir::ArrayAttr rule);
mlir::DictionaryAttr argumentsOfRule(mlir::ArrayAttr rule);

} // namespace lstmc::sym
