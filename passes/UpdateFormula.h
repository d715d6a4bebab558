// Compiles formulas of the optimizer table to scalar ops.
#pragma once

#include <optional>

#include "llvm/ADT/StringMap.h"

#include "executor/abi/Optimizers.h"
#include "ir/sym/ScalarEmitter.h"

namespace lstmc::passes {

/// A compile-time constant or a value of the program.
struct FormulaValue {
  std::optional<double> constant;
  mlir::Value value;

  static FormulaValue of(double number) { return {number, {}}; }
  static FormulaValue of(mlir::Value value) { return {{}, value}; }
};

/// The calculus (Formula.h) that emits sym.scalar ops of one type. Constants are folded in f64, and
/// identities are simplified: x + 0, 1 * x, 0 * x (0 for every finite x), an infinite bound. A net
/// without weight decay or clipping therefore has no ops for them.
class FormulaEmitter {
public:
  using Value = FormulaValue;

  FormulaEmitter(sym::ScalarEmitter &emitter, mlir::Type type) : emitter_(emitter), type_(type) {}

  Value number(double number) { return Value::of(number); }
  /// The value last assigned to `name`.
  Value name(std::string_view name) const;
  Value apply(ScalarOp op, std::span<const Value> operands);
  void assign(std::string_view name, Value value) { names_[name] = value; }

  /// The same, materialised as a value of the program.
  mlir::Value written(std::string_view name) { return written(this->name(name)); }

private:
  mlir::Value written(const Value &value);
  /// The simplified result of an operation, if it needs no op.
  static std::optional<Value> shortened(ScalarOp op, std::span<const Value> operands);

  sym::ScalarEmitter &emitter_;
  mlir::Type type_;
  llvm::StringMap<Value> names_;
};

/// Whether a formula reads the initial value of `name`, before assigning to it.
bool reads(std::string_view formula, std::string_view name);

} // namespace lstmc::passes
