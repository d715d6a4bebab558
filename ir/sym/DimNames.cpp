#include "ir/sym/DimNames.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

#include "ir/sym/Attributes.h"
#include "ir/sym/ShapeRelation.h"
#include "ir/sym/SymOps.h"

using namespace mlir;

namespace lstmc::sym {

StringAttr DimNames::find(Value value, int64_t axis) const {
  auto at = names_.find(value);
  return at == names_.end() || axis >= int64_t(at->second.size()) ? StringAttr() : at->second[axis];
}

void DimNames::set(Value value, int64_t axis, StringAttr name) {
  SmallVector<StringAttr, 4> &names = names_[value];
  if (int64_t(names.size()) <= axis)
    names.resize(axis + 1);
  if (!names[axis])
    names[axis] = name;
}

/// Whether two axes can have one extent. In an op that is about to be refused they may not.
static bool mayBeOne(Value a, int64_t axisA, Value b, int64_t axisB) {
  auto extent = [](Value value, int64_t axis) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && axis < type.getRank() ? type.getDimSize(axis) : kOpen;
  };
  int64_t left = extent(a, axisA), right = extent(b, axisB);
  return left == kOpen || right == kOpen || left == right;
}

void DimNames::join(Value a, int64_t axisA, Value b, int64_t axisB) {
  if (!mayBeOne(a, axisA, b, axisB))
    return;
  StringAttr left = find(a, axisA), right = find(b, axisB);
  if (left && !right)
    set(b, axisB, left);
  else if (right && !left)
    set(a, axisA, right);
}

void DimNames::setAll(Value value, ArrayAttr dims) {
  for (auto [axis, name] : llvm::enumerate(dims))
    if (auto word = dyn_cast<StringAttr>(name); word && !word.empty())
      set(value, axis, word);
}

void DimNames::update(Block &block) {
  if (!last_)
    if (auto function = dyn_cast_or_null<FunctionOpInterface>(block.getParentOp()))
      // While a graph grows, the function lacks inputs (frontend/symbol: declareInputs).
      for (BlockArgument argument : block.getArguments().take_front(function.getNumArguments()))
        if (auto dims = function.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), kDimsAttr))
          setAll(argument, dims);
  for (Block::iterator at = last_ ? std::next(Block::iterator(last_)) : block.begin();
       at != block.end(); ++at) {
    last_ = &*at;
    if (auto variable = dyn_cast<VariableOp>(*at)) {
      if (variable.getDimsAttr())
        setAll(variable, variable.getDimsAttr());
    } else if (auto dims = at->getAttrOfType<ArrayAttr>(kDimsAttr);
               dims && at->getNumOperands() == 0) {
      setAll(at->getResult(0), dims);
    } else if (auto rule = dyn_cast<ShapeRule>(*at)) {
      if (llvm::any_of(at->getOperands(),
                       [&](Value operand) { return names_.contains(operand); })) {
        ShapeRelation relation(&*at, nullptr, this);
        (void)rule.relateShapes(relation);
      }
    }
  }
}

std::string elementText(Type element) {
  std::optional<DType> dtype = dtypeOf(element);
  return dtype ? std::string(dtypeLongName(*dtype)) : "any";
}

std::string typeText(TensorType type, Value value, const DimNames &names) {
  std::string text = elementText(type.getElementType()) + "[";
  auto ranked = dyn_cast<RankedTensorType>(type);
  if (!ranked)
    return text + "...]";
  for (auto [axis, extent] : llvm::enumerate(ranked.getShape())) {
    if (axis != 0)
      text += ", ";
    if (StringAttr name = value ? names.find(value, axis) : StringAttr())
      text += name.str() + "=";
    text += extent == kOpen ? "_" : std::to_string(extent);
  }
  return text + "]";
}

std::string typeText(TensorType type) { return typeText(type, {}, DimNames()); }

} // namespace lstmc::sym
