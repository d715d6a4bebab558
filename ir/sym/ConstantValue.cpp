#include "ir/sym/ConstantValue.h"

#include <algorithm>
#include <cmath>

#include "ir/sym/SymOps.h"
#include "ir/sym/ValueUse.h"

using namespace mlir;

namespace lstmc::sym {

namespace {

using Number = std::optional<double>;
constexpr int kDeepest = 32;

Number constantAt(Value value, int depth);

/// The number that all operands have in common, if there is one.
Number common(mlir::OperandRange operands, int depth) {
  Number first;
  for (Value operand : operands) {
    Number number = constantAt(operand, depth);
    if (!number || (first && *first != *number))
      return std::nullopt;
    first = number;
  }
  return first;
}

/// Of whole numbers that every type of 32 bits has: these are not rounded.
Number compare(ApplyScalarOp op, llvm::ArrayRef<double> in) {
  constexpr double kExact = 1 << 24;
  if (in.size() != 2 || llvm::any_of(in, [](double value) {
        return std::trunc(value) != value || std::abs(value) > kExact;
      }))
    return std::nullopt;
  switch (op.scalarOp()) {
  case ScalarOp::Equal:
    return in[0] == in[1];
  case ScalarOp::NotEqual:
    return in[0] != in[1];
  case ScalarOp::Less:
    return in[0] < in[1];
  case ScalarOp::LessEqual:
    return in[0] <= in[1];
  case ScalarOp::Greater:
    return in[0] > in[1];
  case ScalarOp::GreaterEqual:
    return in[0] >= in[1];
  default:
    return std::nullopt;
  }
}

Number calculate(ApplyScalarOp op, llvm::ArrayRef<double> in) {
  switch (op.scalarOp()) {
  case ScalarOp::Constant:
    return op.getImmediate()->convertToDouble();
  case ScalarOp::Cast:
    return op.getResult().getType().isInteger() ? std::trunc(in[0]) : in[0];
  case ScalarOp::Add:
    return in[0] + in[1];
  case ScalarOp::Sub:
    return in[0] - in[1];
  case ScalarOp::Mul:
    return in[0] * in[1];
  case ScalarOp::Max:
    return std::max(in[0], in[1]);
  case ScalarOp::Min:
    return std::min(in[0], in[1]);
  case ScalarOp::And:
    return in[0] != 0 && in[1] != 0;
  case ScalarOp::Or:
    return in[0] != 0 || in[1] != 0;
  case ScalarOp::Xor:
    return (in[0] != 0) != (in[1] != 0);
  case ScalarOp::Not:
    return in[0] == 0;
  default:
    return compare(op, in);
  }
}

/// The number that an element-wise op computes from constant operands, by its scalar form.
Number elementwise(ScalarRule rule, int depth) {
  Operation *op = rule;
  Block block;
  llvm::DenseMap<Value, double> known;
  for (Value operand : op->getOperands()) {
    Type element = cast<TensorType>(operand.getType()).getElementType();
    Number number = isa<OpenType>(element) ? std::nullopt : constantAt(operand, depth);
    if (!number)
      return std::nullopt;
    known[block.addArgument(computeType(element), op->getLoc())] = *number;
  }
  for (Value result : op->getResults())
    if (isa<OpenType>(cast<TensorType>(result.getType()).getElementType()))
      return std::nullopt;
  OpBuilder builder(op->getContext());
  builder.setInsertionPointToEnd(&block);
  Value result = rule.emitScalar(builder, block.getArguments());
  for (auto scalar : block.getOps<ApplyScalarOp>()) {
    SmallVector<double> in;
    for (Value operand : scalar.getOperands())
      in.push_back(known.lookup(operand));
    Number number = calculate(scalar, in);
    if (!number)
      return std::nullopt;
    known[scalar.getResult()] = *number;
  }
  return known.lookup(result);
}

Number constantAt(Value value, int depth) {
  Operation *op = value.getDefiningOp();
  if (!op || depth == kDeepest)
    return std::nullopt;
  if (auto full = dyn_cast<FullOp>(op))
    return full.getValue().convertToDouble();
  if (isa<OnesOp>(op))
    return 1;
  if (isa<ZerosOp>(op))
    return 0;
  if (op->getNumOperands() == 0)
    return std::nullopt;
  if (auto rule = dyn_cast<ScalarRule>(op))
    return elementwise(rule, depth + 1);
  return isa<MovementRule>(op) ? common(op->getOperands(), depth + 1) : std::nullopt;
}

} // namespace

std::optional<double> constantOf(Value value) { return constantAt(value, 0); }

LogicalResult lengthWithin(ShapeRelation &relation, Value length, Value data, int64_t axis) {
  std::optional<double> known = constantOf(length);
  int64_t steps = relation.ranked(data) ? relation.extent(data, axis) : kOpen;
  if (!known || steps == kOpen || (std::trunc(*known) >= 0 && std::trunc(*known) <= double(steps)))
    return success();
  return relation.refuse(ErrorCode::E0319, {{data, axis}})
         << relation.name(length) << " is " << int64_t(*known) << ", " << relation.name(data)
         << " has " << steps << " steps";
}

} // namespace lstmc::sym
