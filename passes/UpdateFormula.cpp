#include "passes/UpdateFormula.h"

#include "executor/base/ScalarSemantics.h"

namespace lstmc::passes {

FormulaValue FormulaEmitter::name(std::string_view name) const {
  auto found = names_.find(name);
  assert(found != names_.end() && "Optimizers.h has checked the names of its formulas");
  return found->second;
}

mlir::Value FormulaEmitter::written(const Value &value) {
  return value.constant ? emitter_.number(type_, *value.constant) : value.value;
}

std::optional<FormulaValue> FormulaEmitter::shortened(ScalarOp op,
                                                      std::span<const Value> operands) {
  auto is = [&](size_t i, double number) { return operands[i].constant == number; };
  switch (op) {
  case ScalarOp::Add:
    return is(1, 0)   ? std::optional(operands[0])
           : is(0, 0) ? std::optional(operands[1])
                      : std::nullopt;
  case ScalarOp::Sub:
    return is(1, 0) ? std::optional(operands[0]) : std::nullopt;
  case ScalarOp::Mul:
    if (is(0, 0) || is(1, 0))
      return Value::of(0.0);
    return is(1, 1)   ? std::optional(operands[0])
           : is(0, 1) ? std::optional(operands[1])
                      : std::nullopt;
  case ScalarOp::Div:
    return is(1, 1) ? std::optional(operands[0]) : std::nullopt;
  case ScalarOp::Min:
    return is(1, kNoBound) ? std::optional(operands[0]) : std::nullopt;
  case ScalarOp::Max:
    return is(1, -kNoBound) ? std::optional(operands[0]) : std::nullopt;
  default:
    return std::nullopt;
  }
}

FormulaValue FormulaEmitter::apply(ScalarOp op, std::span<const Value> operands) {
  bool known = std::all_of(operands.begin(), operands.end(),
                           [](const Value &operand) { return operand.constant.has_value(); });
  if (known && kScalarRecords[int(op)].result == ScalarResult::Same) {
    double numbers[3] = {};
    for (size_t i = 0; i < operands.size(); ++i)
      numbers[i] = *operands[i].constant;
    return Value::of(op == ScalarOp::Select ? (numbers[0] != 0 ? numbers[1] : numbers[2])
                                            : evaluate(op, numbers[0], numbers[1], numbers[2]));
  }
  if (std::optional<Value> value = shortened(op, operands))
    return *value;
  llvm::SmallVector<mlir::Value> values;
  for (const Value &operand : operands)
    values.push_back(written(operand));
  return Value::of(emitter_.apply(op, values));
}

namespace {

/// Names alone.
struct Reader {
  using Value = bool;

  std::string_view wanted;
  bool assigned = false, found = false;

  Value number(double) { return true; }
  Value name(std::string_view name) {
    found |= name == wanted && !assigned;
    return true;
  }
  Value apply(ScalarOp, std::span<const Value>) { return true; }
  void assign(std::string_view name, Value) { assigned |= name == wanted; }
};

} // namespace

bool reads(std::string_view formula, std::string_view name) {
  Reader reader{name};
  readFormula(formula, reader);
  return reader.found;
}

} // namespace lstmc::passes
