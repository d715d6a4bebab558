// Emits scalar ops, which compute one element of a fused program.
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

#include "executor/abi/ScalarOps.h"

namespace lstmc::sym {

/// Creates sym.scalar ops. All types are compute types: f32, f64, i32, i64, i1.
class ScalarEmitter {
public:
  ScalarEmitter(mlir::OpBuilder &builder, mlir::Location location)
      : builder_(builder), location_(location) {}

  /// Applies any function but constant, uniform and cast.
  mlir::Value apply(ScalarOp op, mlir::ValueRange operands);
  /// A constant; an integer type drops the fraction.
  mlir::Value number(mlir::Type type, double value);
  /// The value itself if it has the type already.
  mlir::Value cast(mlir::Value value, mlir::Type type);

  mlir::Value add(mlir::Value a, mlir::Value b) { return apply(ScalarOp::Add, {a, b}); }
  mlir::Value sub(mlir::Value a, mlir::Value b) { return apply(ScalarOp::Sub, {a, b}); }
  mlir::Value mul(mlir::Value a, mlir::Value b) { return apply(ScalarOp::Mul, {a, b}); }
  mlir::Value div(mlir::Value a, mlir::Value b) { return apply(ScalarOp::Div, {a, b}); }
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b) {
    return apply(ScalarOp::Select, {condition, a, b});
  }
  mlir::Value relu(mlir::Value x) { return apply(ScalarOp::Max, {x, number(x.getType(), 0)}); }
  mlir::Value softsign(mlir::Value x) {
    return div(x, add(number(x.getType(), 1), apply(ScalarOp::Abs, x)));
  }
  /// x / 2 * (1 + erf(x / sqrt(2))).
  mlir::Value gelu(mlir::Value x);
  /// 0 or 1 of the type.
  mlir::Value fromBool(mlir::Value condition, mlir::Type type) { return cast(condition, type); }
  mlir::Value isNonzero(mlir::Value x) { return cast(x, builder_.getI1Type()); }

private:
  mlir::OpBuilder &builder_;
  mlir::Location location_;
};

} // namespace lstmc::sym
