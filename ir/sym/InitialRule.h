// Selection of a parameter's initialiser: its own, the one for its name, or fit's default.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"

namespace lstmc::sym {

/// MXNet's rules. The parameter's own initialiser `init`, `["name", {arguments}]`, takes
/// precedence; then the suffix of the name ("bias": zero); then `fallback`, fit's initialiser, or
/// Uniform(0.01) if it is null. "mixed" is resolved to the initialiser whose pattern matches the
/// name. Fails, without a message, if no pattern matches.
mlir::FailureOr<mlir::ArrayAttr> initialRule(llvm::StringRef parameter, mlir::ArrayAttr init,
                                             mlir::ArrayAttr fallback, mlir::MLIRContext *context);

/// The initialiser that the name's suffix determines; empty for "weight" and unknown suffixes.
llvm::StringRef ruleOfName(llvm::StringRef parameter);

/// Name and arguments of `rule`; the dictionary is empty if it has none.
llvm::StringRef nameOfRule(mlir::ArrayAttr rule);
mlir::DictionaryAttr argumentsOfRule(mlir::ArrayAttr rule);

} // namespace lstmc::sym
