// Text form and checks of sym.scalar and sym.fused.
#include "executor/abi/ElementWindow.h"
#include "executor/abi/Sizes.h"
#include "ir/sym/RuleSupport.h"

using namespace mlir;

namespace lstmc::sym {

//===---- sym.scalar --------------------------------------------------------------------------===//

void ApplyScalarOp::build(OpBuilder &builder, OperationState &state, Type type, ScalarOp op,
                          ValueRange operands, std::optional<double> immediate) {
  auto &properties = state.getOrAddProperties<Properties>();
  properties.function = builder.getI8IntegerAttr(int8_t(op));
  if (immediate)
    properties.immediate = builder.getF64FloatAttr(*immediate);
  state.addOperands(operands);
  state.addTypes(type);
}

static std::optional<ScalarOp> findScalar(StringRef name) {
  for (const ScalarRecord &record : kScalarRecords)
    if (name == StringRef(record.name))
      return record.op;
  return std::nullopt;
}

ParseResult ApplyScalarOp::parse(OpAsmParser &parser, OperationState &state) {
  SMLoc start = parser.getCurrentLocation();
  StringRef name;
  SmallVector<OpAsmParser::UnresolvedOperand, 3> operands;
  NamedAttrList attributes;
  if (parser.parseKeyword(&name) || parser.parseOperandList(operands) ||
      parser.parseOptionalAttrDict(attributes) || parser.parseColon())
    return failure();
  std::optional<ScalarOp> op = findScalar(name);
  if (!op)
    return parser.emitError(start) << "no scalar operation is named \"" << name << "\"";
  SmallVector<Type, 3> types;
  Type result;
  SMLoc typesAt = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalLParen())) {
    if (parser.parseTypeList(types) || parser.parseRParen() || parser.parseArrow() ||
        parser.parseType(result))
      return failure();
  } else {
    if (parser.parseType(result))
      return failure();
    types.assign(operands.size(), result);
  }
  auto &properties = state.getOrAddProperties<Properties>();
  properties.function = parser.getBuilder().getI8IntegerAttr(int8_t(*op));
  if (Attribute immediate = attributes.erase("immediate")) {
    properties.immediate = dyn_cast<FloatAttr>(immediate);
    if (!properties.immediate)
      return parser.emitError(start) << "immediate is a float";
  }
  state.addAttributes(attributes);
  state.addTypes(result);
  return parser.resolveOperands(operands, types, typesAt, state.operands);
}

void ApplyScalarOp::print(OpAsmPrinter &printer) {
  printer << ' ' << StringRef(kScalarRecords[int(scalarOp())].name);
  if (!getOperands().empty())
    printer << ' ' << getOperands();
  printer.printOptionalAttrDict((*this)->getAttrs(), {"function"});
  printer << " : ";
  Type result = getResult().getType();
  if (llvm::all_of(getOperands().getTypes(), [&](Type type) { return type == result; }))
    printer << result;
  else
    printer << '(' << getOperands().getTypes() << ") -> " << result;
}

LogicalResult ApplyScalarOp::verify() {
  if (uint8_t(getFunction()) >= kScalarOpCount)
    return emitOpError("has no function ") << int(uint8_t(getFunction()));
  const ScalarRecord &record = kScalarRecords[int(scalarOp())];
  StringRef name = record.name;

  // scalar:operands
  if (int(getOperands().size()) != record.operands)
    return emitOpError() << name << " reads " << record.operands << " operands, got "
                         << getOperands().size();

  // scalar:types
  SmallVector<Type> types(getOperands().getTypes());
  Type result = getResult().getType();
  if (scalarOp() == ScalarOp::Select) {
    if (!types[0].isInteger(1))
      return emitOpError() << "select decides by i1, got " << types[0];
    types.erase(types.begin());
  }
  if (record.result != ScalarResult::From && !llvm::all_equal(types))
    return emitOpError() << name << " reads operands of one type, got " << types;
  if (record.result == ScalarResult::Same && types.front() != result)
    return emitOpError() << name << " makes " << types.front() << ", not " << result;
  if (record.result == ScalarResult::Bool && !result.isInteger(1))
    return emitOpError() << name << " makes i1, not " << result;

  // scalar:immediate
  bool wanted = scalarOp() == ScalarOp::Constant || scalarOp() == ScalarOp::Uniform;
  if (wanted != bool(getImmediateAttr()))
    return emitOpError() << name << (wanted ? " needs an immediate" : " has no immediate");
  return success();
}

LogicalResult verifyWindow(Operation *op, DenseI64ArrayAttr window, Type result) {
  if (!window)
    return success();
  ArrayRef<int64_t> list = window;
  if (list.size() < 3 || list.size() % 2 == 0)
    return op->emitOpError() << "has a window of " << list.size()
                             << " numbers, want an offset and pairs";
  auto size = ElementWindow::of({list.data(), list.size()}).size(kMaxElements);
  if (!size)
    return op->emitOpError("has a window that reaches below 0 or above ") << kMaxElements;
  int64_t elements = cast<ShapedType>(result).getNumElements();
  if (size->elements != elements)
    return op->emitOpError("has a window of ")
           << size->elements << " elements for a result of " << elements;
  return success();
}

//===---- sym.fused ---------------------------------------------------------------------------===//

/// Whether `from` broadcasts to `to`: missing leading axes and extents of 1 repeat.
static bool stretches(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  if (from.size() > to.size())
    return false;
  for (auto [a, b] : llvm::zip(llvm::reverse(from), llvm::reverse(to)))
    if (a != b && a != 1)
      return false;
  return true;
}

LogicalResult FusedOp::verify() {
  Block &block = getBody().front();

  // fused:shape
  if (getResults().empty())
    return emitOpError("has no result");
  auto shape = dyn_cast<RankedTensorType>(getResult(0).getType());
  for (Type type : getResultTypes())
    if (!shape || !isa<RankedTensorType>(type) ||
        cast<RankedTensorType>(type).getShape() != shape.getShape())
      return emitOpError() << "results have one shape, got " << getResult(0).getType() << " and "
                           << type;
  for (auto [i, type] : llvm::enumerate(getOperandTypes())) {
    auto operand = dyn_cast<RankedTensorType>(type);
    if (!operand || !stretches(operand.getShape(), shape.getShape()))
      return emitOpError() << "operand " << i << " is " << type << ", which does not stretch to "
                           << shape;
  }

  // fused:arguments
  if (block.getNumArguments() != getNumOperands())
    return emitOpError() << "has " << getNumOperands() << " operands and "
                         << block.getNumArguments() << " block arguments";
  for (auto [operand, argument] : llvm::zip(getOperandTypes(), block.getArgumentTypes()))
    if (computeType(cast<TensorType>(operand).getElementType()) != argument)
      return emitOpError() << "reads " << operand << " as " << argument << ", want "
                           << computeType(cast<TensorType>(operand).getElementType());

  // fused:yield
  auto yield = dyn_cast_or_null<YieldOp>(block.empty() ? nullptr : &block.back());
  if (!yield)
    return emitOpError("ends without sym.yield");
  if (yield.getNumOperands() != getNumResults())
    return emitOpError() << "has " << getNumResults() << " results and yields "
                         << yield.getNumOperands();
  for (auto [result, value] : llvm::zip(getResultTypes(), yield.getOperandTypes()))
    if (computeType(cast<TensorType>(result).getElementType()) != value)
      return emitOpError() << "yields " << value << " for " << result << ", want "
                           << computeType(cast<TensorType>(result).getElementType());

  // fused:body
  for (Operation &op : block.without_terminator())
    if (!isa<ApplyScalarOp>(op))
      return op.emitOpError("stands in sym.fused, which holds sym.scalar only");

  // fused:window
  return verifyWindow(*this, getWindowAttr(), shape);
}

} // namespace lstmc::sym
