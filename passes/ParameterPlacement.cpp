#include "passes/ParameterPlacement.h"

#include "executor/abi/Packing.h"
#include "ir/sym/Attributes.h"
#include "ir/sym/Create.h"

namespace lstmc::passes {

using mlir::Operation;
using mlir::Value;

ParameterPlacement::ParameterPlacement(mlir::ModuleOp module, int64_t stages,
                                       const StoreOptions &store)
    : stages(stages), updateOnStore(store.updateOnStore) {
  for (auto part : module.getOps<mlir::func::FuncOp>())
    if (!shareOf(part) || partOf(part) != kWhole)
      lookAt(part);
  decide(module, store);
}

int64_t ParameterPlacement::deviceOf(mlir::func::FuncOp part, Operation *op) const {
  auto stage = op->getAttrOfType<mlir::IntegerAttr>(sym::kStageAttr);
  return replicaOf(part) * stages + (stage ? stage.getInt() : 0);
}

/// Whether a value is a sum over the batch, or an addition of such sums.
static bool addsSums(Value value) {
  Operation *op = value.getDefiningOp();
  if (op && llvm::isa<sym::ElemwiseAddOp>(op))
    return llvm::all_of(op->getOperands(), addsSums);
  return op && sumsPart(op);
}

void ParameterPlacement::lookAt(mlir::func::FuncOp part) {
  auto note = [&](llvm::StringRef symbol, int64_t device) {
    llvm::SmallVector<int64_t> &has = devices[symbol];
    if (!llvm::is_contained(has, device))
      has.insert(llvm::upper_bound(has, device), device);
  };
  for (auto read : part.getOps<sym::ReadOp>())
    note(read.getSource(), deviceOf(part, read));
  for (auto write : part.getOps<sym::WriteOp>())
    note(write.getTarget(), deviceOf(part, write));
  for (auto gradient : part.getOps<sym::GradientOp>())
    if (!shareOf(part) || !addsSums(gradient.getValue()))
      indivisible.insert(gradient.getParameter());
  // Carried states of parts are arguments.
  for (mlir::BlockArgument argument : part.getArguments()) {
    auto role = part.getArgAttrOfType<mlir::StringAttr>(argument.getArgNumber(), sym::kRoleAttr);
    if (!role || role.getValue() != "state")
      continue;
    auto name = part.getArgAttrOfType<mlir::StringAttr>(argument.getArgNumber(), sym::kNameAttr);
    note(name.getValue(), argument.use_empty() ? 0 : deviceOf(part, *argument.user_begin()));
  }
}

/// Assigns owners in declaration order: each parameter to the device with a copy that owns the
/// fewest bytes so far.
void ParameterPlacement::decide(mlir::ModuleOp module, const StoreOptions &store) {
  llvm::DenseMap<int64_t, int64_t> load;
  mlir::Builder builder(module.getContext());
  for (Operation &op : *module.getBody()) {
    llvm::StringRef symbol;
    if (auto parameter = llvm::dyn_cast<sym::ParameterOp>(op)) {
      symbol = parameter.getSymName();
      llvm::SmallVector<int64_t> &has = devices[symbol];
      if (has.empty())
        has = {0}; // no entry reads it
      int64_t elements = llvm::cast<mlir::RankedTensorType>(parameter.getType()).getNumElements();
      if (!store.local && store.updateOnStore && store.bigArrayBound > 0 &&
          elements >= store.bigArrayBound && !indivisible.contains(symbol))
        cut(symbol, elements);
      for (const Slice &slice : slicesOf(symbol))
        load[slice.device] += slice.count;
      if (slicesOf(symbol).empty()) {
        auto *first = store.local
                          ? has.begin()
                          : std::min_element(has.begin(), has.end(), [&](int64_t a, int64_t b) {
                              return load.lookup(a) < load.lookup(b);
                            });
        load[*first] += elements;
        std::rotate(has.begin(), first, first + 1);
      }
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

/// Evenly, at boundaries of the tiles of a norm.
void ParameterPlacement::cut(llvm::StringRef parameter, int64_t elements) {
  llvm::ArrayRef<int64_t> has = of(parameter);
  int64_t tiles = (elements + kNormTile - 1) / kNormTile,
          n = std::min<int64_t>(tiles, int64_t(has.size()));
  if (n < 2)
    return;
  for (int64_t i = 0; i < n; ++i) {
    int64_t first = tiles * i / n * kNormTile,
            end = std::min(elements, tiles * (i + 1) / n * kNormTile);
    slices[parameter].push_back({has[size_t(i)], first, end - first});
  }
}

llvm::ArrayRef<Slice> ParameterPlacement::slicesOf(llvm::StringRef parameter) const {
  auto found = slices.find(parameter);
  return found == slices.end() ? llvm::ArrayRef<Slice>() : llvm::ArrayRef<Slice>(found->second);
}

llvm::StringRef ParameterPlacement::parameterOf(Operation *sum) const {
  for (llvm::SmallVector<Operation *> next = {sum}; !next.empty();) {
    Operation *op = next.pop_back_val();
    for (Operation *user : op->getUsers()) {
      if (auto gradient = llvm::dyn_cast<sym::GradientOp>(user))
        return gradient.getParameter();
      if (llvm::isa<sym::ElemwiseAddOp>(user))
        next.push_back(user);
    }
  }
  return {};
}

} // namespace lstmc::passes
