#include "passes/BatchPositions.h"

#include "mlir/IR/BuiltinTypes.h"

#include "ir/sym/Attributes.h"
#include "ir/sym/SymOps.h"

namespace lstmc::passes {

using sym::BatchPosition;

static int batchAxis(mlir::func::FuncOp entry, unsigned argument) {
  auto dims = entry.getArgAttrOfType<mlir::ArrayAttr>(argument, sym::kDimsAttr);
  for (auto [axis, dim] :
       llvm::enumerate(dims ? dims.getValue() : llvm::ArrayRef<mlir::Attribute>()))
    if (llvm::cast<mlir::StringAttr>(dim).getValue() == sym::kBatchDim)
      return int(axis);
  return -1;
}

/// Scalars, and states, whose layers say where their rows are.
static bool isNoBatch(mlir::func::FuncOp entry, unsigned argument) {
  auto role = entry.getArgAttrOfType<mlir::StringAttr>(argument, "sym.role");
  return role && (role.getValue() == "scalar" || role.getValue() == "state");
}

BatchPositions::BatchPositions(mlir::func::FuncOp entry) {
  bool named = false;
  for (unsigned i = 0; i < entry.getNumArguments(); ++i)
    named |= batchAxis(entry, i) >= 0;
  for (unsigned i = 0; i < entry.getNumArguments(); ++i) {
    auto type = llvm::cast<mlir::RankedTensorType>(entry.getArgument(i).getType());
    int axis = named ? batchAxis(entry, i) : 0;
    if (axis < 0 || type.getRank() == 0 || isNoBatch(entry, i))
      continue;
    batch = type.getDimSize(axis);
    positions[entry.getArgument(i)] = {axis, 1, batch, 1};
  }
  entry.walk([&](sym::BatchRule op) {
    llvm::SmallVector<BatchPosition> operands;
    for (mlir::Value operand : op->getOperands())
      operands.push_back(of(operand));
    for (mlir::OpResult result : op->getResults())
      positions[result] = op.batchOfResult(result.getResultNumber(), operands);
  });
}

} // namespace lstmc::passes
