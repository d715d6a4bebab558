#include "ir/sym/OpText.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringExtras.h"

#include "ir/sym/Attributes.h"
#include "ir/sym/Location.h"
#include "ir/sym/OpTable.h"

using namespace mlir;

namespace lstmc::sym {

std::string labelOf(Operation *op) {
  const OpRecord *record = recordOf(op->getName());
  if (!record || record->mxnetName.empty())
    return op->getName().getStringRef().str();
  return std::string(record->mxnetName);
}

static std::string valueText(Attribute attribute) {
  if (auto text = dyn_cast<StringAttr>(attribute))
    return "\"" + text.str() + "\"";
  if (auto flag = dyn_cast<BoolAttr>(attribute))
    return flag.getValue() ? "True" : "False";
  if (auto number = dyn_cast<IntegerAttr>(attribute))
    return std::to_string(number.getInt());
  if (auto number = dyn_cast<FloatAttr>(attribute)) {
    SmallString<16> text;
    number.getValue().toString(text);
    return text.str().str();
  }
  if (auto tuple = dyn_cast<DenseI64ArrayAttr>(attribute)) {
    std::string text = "(";
    llvm::interleave(
        tuple.asArrayRef(), [&](int64_t entry) { text += std::to_string(entry); },
        [&] { text += ", "; });
    return text + ")";
  }
  return "..";
}

std::string callText(Operation *op) {
  if (SourceRange range = decode(op->getLoc()); !range.what.empty())
    return range.what;
  std::string text = labelOf(op);
  const OpRecord *record = recordOf(op->getName());
  if (!record)
    return text;
  std::string inside;
  for (const AttributeRecord &attribute : record->attributes)
    if (attribute.required)
      if (Attribute value = op->getAttr(attribute.name))
        inside +=
            (inside.empty() ? "" : ", ") + std::string(attribute.name) + "=" + valueText(value);
  return inside.empty() ? text : text + "(" + inside + ")";
}

std::string roleOf(Operation *op, Value value, bool last) {
  const OpRecord *record = recordOf(op->getName());
  if (value.getDefiningOp() == op) {
    unsigned index = cast<OpResult>(value).getResultNumber();
    if (record && index < record->outputNames.size())
      return std::string(record->outputNames[index]);
    return op->getNumResults() == 1 ? "output" : "output" + std::to_string(index);
  }
  unsigned index = llvm::find(op->getOperands(), value).getIndex();
  for (unsigned i = index; last && i < op->getNumOperands(); ++i)
    if (op->getOperand(i) == value)
      index = i;
  if (!record)
    return "operand " + std::to_string(index);
  if (record->variadic())
    return "arg" + std::to_string(index);
  // With optional operands in the middle, the segment sizes say which ones the op has.
  auto segments = op->getAttrOfType<DenseI32ArrayAttr>("operandSegmentSizes");
  for (auto [i, input] : llvm::enumerate(record->inputs)) {
    if (segments && segments[i] == 0)
      continue;
    if (index-- == 0)
      return std::string(input.name);
  }
  return "input";
}

std::string userName(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto function = dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
    // While a graph grows, the function lacks inputs (frontend/symbol: declareInputs).
    const bool isDeclared = function && argument.getArgNumber() < function.getNumArguments();
    auto name = isDeclared
                    ? function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kNameAttr)
                    : StringAttr();
    return name ? name.str() : "argument " + std::to_string(argument.getArgNumber());
  }
  Operation *op = value.getDefiningOp();
  // sym.variable and sym.begin_state have a name attribute of their own.
  for (StringRef attribute : {StringRef("name"), StringRef(kNameAttr)})
    if (auto name = op->getAttrOfType<StringAttr>(attribute))
      return name.str();
  return labelOf(op);
}

std::string coveredText(const SourceRange &range) {
  StringRef line = range.text;
  bool oneCellEach = llvm::all_of(line, [](char c) { return llvm::isPrint(c); });
  if (!oneCellEach || range.column < 1)
    return {};
  return line.substr(range.column - 1, range.length).str();
}

bool isName(StringRef text) {
  return !text.empty() && text.size() <= 40 && !llvm::isDigit(text.front()) &&
         llvm::all_of(text, [](char c) {
           return llvm::isAlnum(c) || c == '_' || c == '[' || c == ']' || c == '.';
         });
}

} // namespace lstmc::sym
