#include "frontend/symbol/BatchAxes.h"

#include "frontend/symbol/Impl.h"
#include "ir/sym/Attributes.h"
#include "ir/sym/SymOps.h"

namespace lstmc::symbol {

namespace {

using sym::BatchPosition;
using Positions = llvm::DenseMap<mlir::Value, BatchPosition>;

BatchPosition whole(mlir::Value value, int axis) {
  return {axis, 1, llvm::cast<mlir::RankedTensorType>(value.getType()).getDimSize(unsigned(axis)),
          1};
}

/// Follows axes through the ops of the body. Stops at the first op that `found` accepts.
template <typename Found> bool follow(mlir::Block &body, Positions &positions, Found &&found) {
  for (mlir::Operation &op : body) {
    llvm::SmallVector<BatchPosition> operands;
    for (mlir::Value operand : op.getOperands())
      operands.push_back(positions.lookup(operand));
    if (llvm::none_of(operands, [](const BatchPosition &at) { return bool(at); }))
      continue;
    if (found(op))
      return true;
    if (auto rule = llvm::dyn_cast<sym::BatchRule>(op))
      for (mlir::OpResult result : op.getResults())
        positions[result] = rule.batchOfResult(result.getResultNumber(), operands);
  }
  return false;
}

/// Whether the steps of a fused recurrence are the elements of axis 0 of `input`, whole.
bool isReadAsSteps(mlir::Block &body, mlir::BlockArgument input) {
  Positions positions;
  const BatchPosition first = positions[input] = whole(input, 0);
  return follow(body, positions, [&](mlir::Operation &op) {
    auto recurrence = llvm::dyn_cast<sym::RnnOp>(op);
    return recurrence && positions.lookup(recurrence.getData()) == first;
  });
}

/// The batch axis of a label: that of the first operand of the op that reads it.
int axisOfLabel(mlir::BlockArgument label, const Positions &positions) {
  const auto type = llvm::cast<mlir::RankedTensorType>(label.getType());
  for (mlir::Operation *reader : label.getUsers()) {
    const BatchPosition data = positions.lookup(reader->getOperand(0));
    if (data && data.outer == 1 && data.inner == 1 && data.axis < type.getRank() &&
        type.getDimSize(unsigned(data.axis)) == data.batch)
      return data.axis;
  }
  return 0;
}

} // namespace

std::map<std::string, int> batchAxes(const Graph &graph, const std::map<std::string, int> &known) {
  const Graph::Impl &impl = graph.impl();
  mlir::func::FuncOp function = impl.function;
  std::map<std::string, int> axes;
  Positions positions;
  std::vector<std::pair<std::string, mlir::BlockArgument>> labels;
  for (auto [index, argument] : llvm::enumerate(impl.body->getArguments())) {
    auto type = llvm::dyn_cast<mlir::RankedTensorType>(argument.getType());
    if (!type || type.getRank() < 2)
      continue;
    const auto number = unsigned(index);
    std::string name = function.getArgAttrOfType<mlir::StringAttr>(number, sym::kNameAttr).str();
    auto role = function.getArgAttrOfType<mlir::StringAttr>(number, sym::kRoleAttr);
    auto given = known.find(name);
    if (given == known.end() && role && role.getValue() == "label") {
      labels.emplace_back(std::move(name), argument);
      continue;
    }
    const int axis =
        given != known.end() ? given->second : int(isReadAsSteps(*impl.body, argument));
    positions[argument] = whole(argument, axis);
    axes[std::move(name)] = axis;
  }
  follow(*impl.body, positions, [](mlir::Operation &) { return false; });
  for (auto &[name, label] : labels)
    axes[name] = axisOfLabel(label, positions);
  return axes;
}

} // namespace lstmc::symbol
