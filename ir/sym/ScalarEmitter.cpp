#include "ir/sym/ScalarEmitter.h"

#include <numbers>

#include "ir/sym/SymOps.h"

using namespace mlir;

namespace lstmc::sym {

Value ScalarEmitter::apply(ScalarOp op, ValueRange operands) {
  const ScalarRecord &record = kScalarRecords[int(op)];
  assert(int(operands.size()) == record.operands && record.result != ScalarResult::From);
  Type type =
      record.result == ScalarResult::Bool ? builder_.getI1Type() : operands.back().getType();
  return builder_.create<ApplyScalarOp>(location_, type, op, operands);
}

Value ScalarEmitter::number(Type type, double value) {
  if (type.isInteger())
    value = std::trunc(value);
  return builder_.create<ApplyScalarOp>(location_, type, ScalarOp::Constant, ValueRange(), value);
}

Value ScalarEmitter::cast(Value value, Type type) {
  if (value.getType() == type)
    return value;
  return builder_.create<ApplyScalarOp>(location_, type, ScalarOp::Cast, value);
}

Value ScalarEmitter::gelu(Value x) {
  Type type = x.getType();
  Value below = apply(ScalarOp::Erf, mul(x, number(type, std::numbers::sqrt2 / 2)));
  return mul(mul(x, number(type, 0.5)), add(below, number(type, 1)));
}

} // namespace lstmc::sym
