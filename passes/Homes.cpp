#include "passes/Homes.h"

#include "ir/sym/Attributes.h"
#include "ir/sym/Create.h"

namespace lstmc::passes {

using mlir::Operation;
using mlir::Value;

Homes::Homes(mlir::ModuleOp module, int64_t stages, bool local, bool updateOnStore) : stages(stages), updateOnStore(updateOnStore) {
  for (auto part : module.getOps<mlir::func::FuncOp>())
    if (!shareOf(part) || partOf(part) != kWhole)
      lookAt(part);
  decide(module, local);
}

int64_t Homes::deviceOf(mlir::func::FuncOp part, Operation *op) const {
  auto stage = op->getAttrOfType<mlir::IntegerAttr>(sym::kStageAttr);
  return replicaOf(part) * stages + (stage ? stage.getInt() : 0);
}

void Homes::lookAt(mlir::func::FuncOp part) {
  auto note = [&](llvm::StringRef symbol, int64_t device) {
    llvm::SmallVector<int64_t> &has = devices[symbol];
    if (!llvm::is_contained(has, device))
      has.insert(llvm::upper_bound(has, device), device);
  };
  for (auto read : part.getOps<sym::ReadOp>())
    note(read.getSource(), deviceOf(part, read));
  for (auto write : part.getOps<sym::WriteOp>())
    note(write.getTarget(), deviceOf(part, write));
  // Carried states of parts are arguments.
  for (mlir::BlockArgument argument : part.getArguments()) {
    auto role = part.getArgAttrOfType<mlir::StringAttr>(argument.getArgNumber(), sym::kRoleAttr);
    if (!role || role.getValue() != "state")
      continue;
    auto name = part.getArgAttrOfType<mlir::StringAttr>(argument.getArgNumber(), sym::kNameAttr);
    note(name.getValue(), argument.use_empty() ? 0 : deviceOf(part, *argument.user_begin()));
  }
}

/// Parameters get the device that decides over them in declared order, each the one that has the fewest bytes so far.
void Homes::decide(mlir::ModuleOp module, bool local) {
  llvm::DenseMap<int64_t, int64_t> load;
  mlir::Builder builder(module.getContext());
  for (Operation &op : *module.getBody()) {
    llvm::StringRef symbol;
    if (auto parameter = llvm::dyn_cast<sym::ParameterOp>(op)) {
      symbol = parameter.getSymName();
      llvm::SmallVector<int64_t> &has = devices[symbol];
      if (has.empty())
        has = {0}; // no entry reads it
      auto *first = local ? has.begin() : std::min_element(has.begin(), has.end(), [&](int64_t a, int64_t b) { return load.lookup(a) < load.lookup(b); });
      load[*first] += llvm::cast<mlir::RankedTensorType>(parameter.getType()).getNumElements();
      std::rotate(has.begin(), first, first + 1);
    } else if (auto state = llvm::dyn_cast<sym::StateOp>(op)) {
      symbol = state.getSymName();
      llvm::SmallVector<int64_t> &has = devices[symbol];
      has.resize(1); // whole, in one place
    } else {
      continue;
    }
    op.setAttr(sym::kDevicesAttr, builder.getDenseI64ArrayAttr(devices[symbol]));
  }
}

int64_t Homes::ofSum(Operation *sum) const {
  for (llvm::SmallVector<Operation *> next = {sum}; !next.empty();) {
    Operation *op = next.pop_back_val();
    for (Operation *user : op->getUsers()) {
      if (auto gradient = llvm::dyn_cast<sym::GradientOp>(user))
        return of(gradient.getParameter()).front();
      if (llvm::isa<sym::ElemwiseAddOp>(user))
        next.push_back(user);
    }
  }
  return 0;
}

} // namespace lstmc::passes
