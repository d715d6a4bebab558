#include "frontend/symbol/View.h"

#include "executor/base/ParseNumber.h"
#include "frontend/symbol/Impl.h"
#include "ir/sym/Attributes.h"
#include "ir/sym/SymOps.h"

namespace lstmc::symbol {

namespace {

Tuple tupleOf(mlir::Attribute attribute) {
  Tuple tuple;
  if (auto dense = llvm::dyn_cast<mlir::DenseI64ArrayAttr>(attribute)) {
    for (int64_t entry : dense.asArrayRef())
      tuple.push_back(entry);
  } else if (auto array = llvm::dyn_cast<mlir::ArrayAttr>(attribute)) {
    for (mlir::Attribute entry : array) {
      auto number = llvm::dyn_cast<mlir::IntegerAttr>(entry);
      tuple.push_back(number ? std::optional<int64_t>(number.getInt()) : std::nullopt);
    }
  }
  return tuple;
}

} // namespace

AttributeValue valueOf(mlir::Attribute attribute) {
  if (auto flag = llvm::dyn_cast<mlir::BoolAttr>(attribute))
    return flag.getValue();
  if (auto number = llvm::dyn_cast<mlir::IntegerAttr>(attribute))
    return number.getInt();
  if (auto number = llvm::dyn_cast<mlir::FloatAttr>(attribute))
    return number.getValueAsDouble();
  if (auto text = llvm::dyn_cast<mlir::StringAttr>(attribute))
    return text.str();
  if (llvm::isa<mlir::DenseI64ArrayAttr, mlir::ArrayAttr>(attribute))
    return tupleOf(attribute);
  return {};
}

bool isDefault(const AttributeValue &value, std::string_view text) {
  if (auto flag = std::get_if<bool>(&value))
    return text == (*flag ? "True" : "False");
  if (auto number = std::get_if<int64_t>(&value))
    return text == std::to_string(*number);
  if (auto number = std::get_if<double>(&value))
    return parseNumber<double>(text) == *number;
  if (auto written = std::get_if<std::string>(&value))
    return text == *written;
  if (auto tuple = std::get_if<Tuple>(&value))
    return tuple->empty() && text == "()";
  return text == "None";
}

namespace {

Initialiser initialiserOf(mlir::ArrayAttr attribute) {
  Initialiser init;
  if (!attribute)
    return init;
  init.name = llvm::cast<mlir::StringAttr>(attribute[0]).str();
  for (mlir::NamedAttribute argument : llvm::cast<mlir::DictionaryAttr>(attribute[1])) {
    auto list = llvm::dyn_cast<mlir::ArrayAttr>(argument.getValue());
    if (auto values = llvm::dyn_cast<mlir::DenseElementsAttr>(argument.getValue())) {
      Tuple shape(values.getType().getShape().begin(), values.getType().getShape().end());
      std::vector<double> numbers(values.value_begin<double>(), values.value_end<double>());
      init.arguments = {{"shape", std::move(shape)}, {"data", std::move(numbers)}};
    } else if (argument.getName() == "patterns" && list)
      for (mlir::Attribute pattern : list)
        init.patterns.push_back(llvm::cast<mlir::StringAttr>(pattern).str());
    else if (argument.getName() == "initializers" && list)
      for (mlir::Attribute inner : list)
        init.initialisers.push_back(initialiserOf(llvm::cast<mlir::ArrayAttr>(inner)));
    else
      init.arguments.push_back({argument.getName().str(), valueOf(argument.getValue())});
  }
  return init;
}

/// The extents of a type, with the dims' names where they were written.
Shape shapeOf(mlir::Type type, mlir::ArrayAttr dims) {
  auto ranked = llvm::dyn_cast<mlir::RankedTensorType>(type);
  if (!ranked)
    return {};
  std::vector<Dim> extents;
  for (auto [axis, extent] : llvm::enumerate(ranked.getShape())) {
    std::string name;
    if (dims && axis < dims.size())
      name = llvm::cast<mlir::StringAttr>(dims[axis]).str();
    extents.push_back({extent, name});
  }
  return Shape(std::move(extents));
}

DType dtypeOf(mlir::Type type) {
  return sym::dtypeOf(llvm::cast<mlir::TensorType>(type).getElementType()).value_or(DType::F32);
}

class Viewer {
public:
  explicit Viewer(const Graph::Impl &impl) : impl_(impl) {}

  GraphView run() {
    view_.name = impl_.name;
    mlir::func::FuncOp function = impl_.function;
    for (auto [index, argument] : llvm::enumerate(impl_.body->getArguments())) {
      InputView input;
      input.name = function.getArgAttrOfType<mlir::StringAttr>(index, sym::kNameAttr).str();
      input.dtype = dtypeOf(argument.getType());
      input.shape = shapeOf(argument.getType(),
                            function.getArgAttrOfType<mlir::ArrayAttr>(index, sym::kDimsAttr));
      auto role = function.getArgAttrOfType<mlir::StringAttr>(index, sym::kRoleAttr);
      input.role = role && role.getValue() == "label" ? Role::Label : Role::Data;
      view_.inputs.push_back(std::move(input));
    }
    view_.nodes.reserve(impl_.body->getOperations().size());
    for (mlir::Operation &op : *impl_.body)
      if (!op.hasTrait<mlir::OpTrait::IsTerminator>())
        add(&op);
    for (mlir::Value output : impl_.outputs)
      view_.outputs.push_back(edge(output));
    return std::move(view_);
  }

private:
  EdgeView edge(mlir::Value value) {
    if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(value))
      return {true, argument.getArgNumber(), 0};
    auto result = llvm::cast<mlir::OpResult>(value);
    return {false, index_.lookup(result.getOwner()), int(result.getResultNumber())};
  }

  void add(mlir::Operation *op) {
    index_[op] = view_.nodes.size();
    NodeView &node = view_.nodes.emplace_back();
    if (auto group = op->getAttrOfType<mlir::StringAttr>(sym::kGroupAttr))
      node.group = group.str();
    node.recompute = op->hasAttr(sym::kRecomputeAttr);
    if (auto dims = op->getAttrOfType<mlir::ArrayAttr>(sym::kDimsAttr))
      for (mlir::Attribute dim : dims)
        node.dims.push_back(llvm::cast<mlir::StringAttr>(dim).str());
    if (auto variable = llvm::dyn_cast<sym::VariableOp>(op)) {
      node.kind = NodeView::Kind::Variable;
      node.name = variable.getName().str();
      node.dtype = dtypeOf(variable.getType());
      node.shape = shapeOf(variable.getType(), variable.getDimsAttr());
      node.init = initialiserOf(variable.getInitAttr());
      if (auto mult = variable.getLrMultAttr())
        node.lrMult = mult.getValueAsDouble();
      if (auto mult = variable.getWdMultAttr())
        node.wdMult = mult.getValueAsDouble();
    } else if (auto state = llvm::dyn_cast<sym::BeginStateOp>(op)) {
      node.kind = NodeView::Kind::BeginState;
      node.name = state.getName().str();
      node.dtype = dtypeOf(state.getType());
      node.shape = shapeOf(state.getType(), {});
    } else {
      addCall(op, node);
    }
  }

  void addCall(mlir::Operation *op, NodeView &node) {
    const sym::OpRecord *record = sym::recordOf(op->getName());
    node.op = record ? std::string(record->mxnetName) : op->getName().getStringRef().str();
    if (auto called = op->getAttrOfType<mlir::StringAttr>(sym::kCalledAttr))
      node.op = called.str();
    if (auto name = op->getAttrOfType<mlir::StringAttr>(sym::kNameAttr))
      node.name = name.str();
    const int visible = record ? sym::visibleResults(op, *record) : -1;
    node.outputs = visible >= 0 ? visible : int(op->getNumResults());
    if (!record)
      return;
    for (const sym::AttributeRecord &attribute : record->attributes) {
      mlir::Attribute set = op->getAttr(attribute.name);
      if (!set)
        continue;
      AttributeValue value = valueOf(set);
      if (attribute.required || !isDefault(value, attribute.defaultText))
        node.attributes.push_back({std::string(attribute.name), std::move(value)});
    }
    auto segments = op->getAttrOfType<mlir::DenseI32ArrayAttr>("operandSegmentSizes");
    size_t next = 0;
    for (size_t i = 0; next < op->getNumOperands(); ++i) {
      std::string name =
          record->variadic() ? "arg" + std::to_string(i) : std::string(record->inputs[i].name);
      bool absent = false;
      if (segments)
        absent = segments[i] == 0;
      else if (!record
                    ->variadic()) // without recorded segment sizes at most one input can be absent
        absent = op->getNumOperands() < record->inputs.size() && i + 1 < record->inputs.size() &&
                 (record->inputs[i].optional || !record->inputs[i].conditionAttribute.empty());
      if (!absent)
        node.inputs.emplace_back(std::move(name), edge(op->getOperand(next++)));
    }
  }

  const Graph::Impl &impl_;
  GraphView view_;
  llvm::DenseMap<mlir::Operation *, size_t> index_;
};

} // namespace

GraphView view(const Graph &graph) { return Viewer(graph.impl()).run(); }

} // namespace lstmc::symbol
