// Initialisation of a parameter as a launch of the kernel `initialise`.
#pragma once

#include <string>

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringRef.h"

#include "executor/abi/Kernels.h"

namespace lstmc::passes {

/// DenseElementsAttr of f64 on a parameter's buffer: InitialValue::values.
inline constexpr llvm::StringLiteral kInitialValuesAttr = "initial_values";

/// Attributes of the kernel, and the initialiser as written in the source: "Uniform(scale=0.08)".
struct InitialValue {
  InitKind kind = InitKind::Constant;
  OrthogonalStart variant = OrthogonalStart::Uniform;
  double a = 0, b = 0;
  std::string text;
  /// Explicit values, f64, of the parameter's shape, used instead of the launch; null if there are
  /// none.
  mlir::DenseElementsAttr values;
};

/// Resolves initialisers; results are cached, because many parameters share a rule and a shape.
class InitialValues {
public:
  /// Resolves the initialiser that sym::initialRule chooses. Reports E0319 and fails if it cannot
  /// be used.
  mlir::FailureOr<InitialValue> resolve(llvm::StringRef parameter, mlir::RankedTensorType type,
                                        mlir::ArrayAttr init, mlir::ArrayAttr fallback,
                                        mlir::Location location);

private:
  llvm::DenseMap<std::pair<mlir::Attribute, mlir::Type>, InitialValue> known_; ///< by rule and type
};

} // namespace lstmc::passes
