#include "frontend/symbol/ReadAsSteps.h"

#include "frontend/symbol/Impl.h"
#include "ir/sym/Attributes.h"
#include "ir/sym/SymOps.h"

namespace lstmc::symbol {

/// Whether the data of a fused recurrence have the elements of axis 0 of `input` as their steps.
/// The axis is followed as that of the batch is, through every op that keeps it whole.
static bool isReadAsSteps(mlir::Block &body, mlir::BlockArgument input) {
  llvm::DenseMap<mlir::Value, sym::BatchPosition> positions;
  const auto type = llvm::cast<mlir::RankedTensorType>(input.getType());
  const sym::BatchPosition first = {0, 1, type.getDimSize(0), 1};
  positions[input] = first;
  for (mlir::Operation &op : body) {
    llvm::SmallVector<sym::BatchPosition> operands;
    for (mlir::Value operand : op.getOperands())
      operands.push_back(positions.lookup(operand));
    if (llvm::none_of(operands, [](const sym::BatchPosition &at) { return bool(at); }))
      continue;
    if (auto recurrence = llvm::dyn_cast<sym::RnnOp>(op);
        recurrence && positions.lookup(recurrence.getData()) == first)
      return true;
    if (auto rule = llvm::dyn_cast<sym::BatchRule>(op))
      for (mlir::OpResult result : op.getResults())
        positions[result] = rule.batchOfResult(result.getResultNumber(), operands);
  }
  return false;
}

std::vector<std::string> inputsReadAsSteps(const Graph &graph) {
  const Graph::Impl &impl = graph.impl();
  mlir::func::FuncOp function = impl.function;
  std::vector<std::string> names;
  for (auto [index, argument] : llvm::enumerate(impl.body->getArguments())) {
    auto type = llvm::dyn_cast<mlir::RankedTensorType>(argument.getType());
    if (type && type.getRank() >= 2 && isReadAsSteps(*impl.body, argument))
      names.push_back(
          function.getArgAttrOfType<mlir::StringAttr>(unsigned(index), sym::kNameAttr).str());
  }
  return names;
}

} // namespace lstmc::symbol
