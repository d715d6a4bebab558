#include "passes/rolling/MergedSteps.h"

#include "ir/sym/Create.h"
#include "ir/sym/SymOps.h"

namespace lstmc::passes {

using mlir::Operation;
using mlir::Value;

/// The value that `value` views with an additional time axis of extent 1.
static Value behindView(Value value) {
  Operation *op = value.getDefiningOp();
  return llvm::isa_and_present<sym::ExpandDimsOp, sym::ReshapeOp>(op) ? op->getOperand(0) : value;
}

/// The time axis in the result; nullopt if it cannot be derived from y.
static std::optional<int64_t> axisOfSteps(Operation *op) {
  auto type = sym::rankedType(op->getResult(0));
  auto part = sym::rankedType(op->getOperand(0));
  if (auto stack = llvm::dyn_cast<sym::StackOp>(op)) {
    int64_t axis = sym::normalAxis(stack.getAxis(), type.getRank());
    return axis < 2 ? std::optional(axis) : std::nullopt;
  }
  auto concat = llvm::dyn_cast<sym::ConcatOp>(op);
  if (!concat)
    return std::nullopt;
  int64_t axis = sym::normalAxis(concat.getDim(), type.getRank());
  const bool oneStep = part.getRank() == 3 && axis < 2 && part.getDimSize(unsigned(axis)) == 1;
  const bool flat = part.getRank() == 2;
  return oneStep || flat ? std::optional(axis) : std::nullopt;
}

static bool merges(Operation *op, llvm::ArrayRef<Value> values, MergedSteps &merged) {
  if (op->getNumOperands() != values.size())
    return false;
  merged.op = op;
  merged.reversed = behindView(op->getOperand(0)) != values.front();
  const auto count = unsigned(values.size());
  auto shape = sym::rankedType(values.front()).getShape();
  for (unsigned t = 0; t < count; ++t) {
    Value operand = op->getOperand(merged.reversed ? count - 1 - t : t), read = behindView(operand);
    if (operand != values[t] && read != values[t])
      return false;
    if (operand == values[t])
      continue;
    auto type = sym::rankedType(operand);
    if (type.getRank() != 3 || type.getDimSize(2) != shape[1])
      return false;
    merged.views.push_back(operand.getDefiningOp());
  }
  return true;
}

llvm::SmallVector<MergedSteps> mergesOf(llvm::ArrayRef<Value> values) {
  llvm::SmallVector<MergedSteps> all;
  llvm::DenseSet<Operation *> seen;
  auto consider = [&](Operation *op) {
    MergedSteps merged;
    if (!llvm::isa<sym::ConcatOp, sym::StackOp>(op) || !seen.insert(op).second)
      return;
    std::optional<int64_t> axis = axisOfSteps(op);
    if (!axis || !merges(op, values, merged))
      return;
    merged.rows = *axis == 0 && sym::rankedType(op->getResult(0)).getRank() == 2;
    all.push_back(std::move(merged));
  };
  for (Operation *user : values.front().getUsers()) {
    consider(user);
    if (llvm::isa<sym::ExpandDimsOp, sym::ReshapeOp>(user))
      llvm::for_each(user->getUsers(), consider);
  }
  return all;
}

Value MergedSteps::build(mlir::OpBuilder &builder, Value y) const {
  mlir::Location loc = op->getLoc();
  auto type = sym::rankedType(y), wanted = sym::rankedType(op->getResult(0));
  auto shape = type.getShape();
  const int64_t axis = *axisOfSteps(op);
  if (reversed)
    y = builder.create<sym::ReverseOp>(loc, type, y, builder.getDenseI64ArrayAttr({0}));
  if (axis == 1)
    y = builder.create<sym::SwapAxisOp>(loc, type.clone({shape[1], shape[0], shape[2]}), y,
                                        builder.getI64IntegerAttr(0), builder.getI64IntegerAttr(1));
  if (wanted.getRank() == 3)
    return y;
  const llvm::SmallVector<int64_t> codes =
      axis == 1 ? llvm::SmallVector<int64_t>{0, -3} : llvm::SmallVector<int64_t>{-3, 0};
  return builder.create<sym::ReshapeOp>(loc, wanted, y, codes);
}

} // namespace lstmc::passes
