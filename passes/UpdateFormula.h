// A formula of the table of optimizers, written as scalar operations.
#pragma once

#include <optional>

#include "llvm/ADT/StringMap.h"

#include "executor/abi/Optimizers.h"
#include "ir/sym/ScalarEmitter.h"

namespace lstmc::passes {

/// A number that is known when the net is compiled, or a value of the program.
struct FormulaValue {
  std::optional<double> constant;
  mlir::Value value;

  static FormulaValue of(double number) { return {number, {}}; }
  static FormulaValue of(mlir::Value value) { return {{}, value}; }
};

/// The calculus (Formula.h) that makes sym.scalar ops of one type. What is known is computed in f64
/// here, and what changes nothing is left out: x + 0, 1 * x, 0 * x, a bound that is none. So a net
/// without weight decay or clipping pays nothing for them. (0 * x is 0 for every x that is finite.)
class FormulaEmitter {
public:
  using Value = FormulaValue;

  FormulaEmitter(sym::ScalarEmitter &emitter, mlir::Type type) : emitter_(emitter), type_(type) {}

  Value number(double number) { return Value::of(number); }
  /// What was assigned last.
  Value name(std::string_view name) const;
  Value apply(ScalarOp op, std::span<const Value> operands);
  void assign(std::string_view name, Value value) { names_[name] = value; }

  /// The same, as a value of the program.
  mlir::Value written(std::string_view name) { return written(this->name(name)); }

private:
  mlir::Value written(const Value &value);
  /// What an operation comes down to without being carried out.
  static std::optional<Value> shortened(ScalarOp op, std::span<const Value> operands);

  sym::ScalarEmitter &emitter_;
  mlir::Type type_;
  llvm::StringMap<Value> names_;
};

/// Whether a formula reads `name` as it is given, before it assigns to it.
bool reads(std::string_view formula, std::string_view name);

} // namespace lstmc::passes
