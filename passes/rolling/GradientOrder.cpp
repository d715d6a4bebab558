#include "passes/rolling/GradientOrder.h"

#include "ir/sym/SymOps.h"

namespace lstmc::passes {

using mlir::Operation;
using mlir::Value;

GradientOrder::GradientOrder(mlir::func::FuncOp net) : positions(net) {
  for (Value output : net.front().getTerminator()->getOperands())
    trains_ |= bool(output.getDefiningOp<sym::LossHead>());
  for (Operation &op : net.front()) {
    auto variable = llvm::dyn_cast<sym::VariableOp>(op);
    bool reached = variable && variable.getRole() == "parameter";
    for (Value operand : op.getOperands())
      reached |= trained.contains(operand);
    if (reached && trains_)
      trained.insert(op.result_begin(), op.result_end());
  }
}

void GradientOrder::note(mlir::ValueRange values, Value like) {
  for (Value value : values) {
    if (wants(like))
      trained.insert(value);
    noted[value] = batch(like);
  }
}

sym::BatchPosition GradientOrder::batch(Value value) const {
  auto found = noted.find(value);
  return found != noted.end() ? found->second : positions.of(value);
}

/// Whether no remaining use is between the leaving ones, or changes sides relative to the place of
/// the move; `before`, `after`: the sides on which remaining uses are allowed.
bool GradientOrder::staysOutside(Value value, const Move &move, bool before, bool after) const {
  Operation *first = nullptr, *last = nullptr;
  for (Operation *user : value.getUsers())
    if (move.leaving.contains(user)) {
      first = !first || user->isBeforeInBlock(first) ? user : first;
      last = !last || last->isBeforeInBlock(user) ? user : last;
    }
  for (Operation *user : value.getUsers()) {
    if (move.leaving.contains(user))
      continue;
    const bool wasBefore = user->isBeforeInBlock(first), wasAfter = last->isBeforeInBlock(user);
    const bool isBefore = move.hoisted.contains(user) || user->isBeforeInBlock(move.place);
    if (wasBefore ? !(before && isBefore) : !(wasAfter && after && !isBefore))
      return false;
  }
  return true;
}

bool GradientOrder::keepsRun(Value value, const Move &move) const {
  return !wants(value) || staysOutside(value, move, true, true);
}

bool GradientOrder::keepsEach(Value value, const Move &move) const {
  if (!wants(value) || !llvm::hasNItemsOrMore(value.getUses(), 3))
    return true; // two addends commute
  const auto leaving = llvm::count_if(
      value.getUses(), [&](mlir::OpOperand &use) { return move.leaving.contains(use.getOwner()); });
  // Two leaving uses that are added first become one addend, their sum: it must be the first
  // addend.
  return leaving <= 2 && staysOutside(value, move, true, leaving == 1);
}

/// Whether the use contributes a gradient of the value's own shape that is not part of a sum over
/// rows.
static bool isDirect(mlir::OpOperand &use) {
  return use.getOperandNumber() == 0 || llvm::isa<sym::ScalarRule>(use.getOwner()) ||
         llvm::all_equal(use.getOwner()->getOperandTypes());
}

bool GradientOrder::keepsHoisted(const Move &move) const {
  llvm::DenseSet<Value> seen;
  for (Operation *op : move.hoisted)
    for (Value value : op->getOperands()) {
      if (!wants(value) || !seen.insert(value).second)
        continue;
      if (batch(value) && !llvm::hasNItemsOrMore(value.getUses(), 3) &&
          llvm::all_of(value.getUses(), isDirect))
        continue;
      Operation *last = nullptr;
      for (Operation *user : value.getUsers())
        if (move.hoisted.contains(user))
          last = !last || last->isBeforeInBlock(user) ? user : last;
      for (Operation *user : value.getUsers())
        if (!move.hoisted.contains(user) && move.place->isBeforeInBlock(user) &&
            user->isBeforeInBlock(last))
          return false;
    }
  return true;
}

} // namespace lstmc::passes
