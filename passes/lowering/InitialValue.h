// How a parameter gets its first value, as one launch of the kernel `initialise`.
#pragma once

#include <string>

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringRef.h"

#include "executor/abi/Kernels.h"

namespace lstmc::passes {

/// DenseElementsAttr of f64 on the buffer of a parameter: InitialValue::values.
inline constexpr llvm::StringLiteral kInitialValuesAttr = "initial_values";

/// Attributes of the kernel, and how the initialiser reads in the source: "Uniform(scale=0.08)".
struct InitialValue {
  InitKind kind = InitKind::Constant;
  OrthogonalStart variant = OrthogonalStart::Uniform;
  double a = 0, b = 0;
  std::string text;
  /// Of f64, the parameter's shape: they take the place of what the launch makes. Null if it does.
  mlir::DenseElementsAttr values;
};

/// Of parameters, of which many share a rule and a shape.
class InitialValues {
public:
  /// Of the initialiser that sym::initialRule chooses. Fails after reporting one that cannot be
  /// used (E0319).
  mlir::FailureOr<InitialValue> resolve(llvm::StringRef parameter, mlir::RankedTensorType type,
                                        mlir::ArrayAttr init, mlir::ArrayAttr fallback,
                                        mlir::Location location);

private:
  llvm::DenseMap<std::pair<mlir::Attribute, mlir::Type>, InitialValue> known_; ///< by rule and type
};

} // namespace lstmc::passes
