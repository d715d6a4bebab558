#include "executor/abi/LogicalOps.h"
#include "ir/sym/Extents.h"
#include "ir/sym/OpText.h"
#include "ir/sym/ShapeRelation.h"
#include "ir/sym/SymOps.h"

using namespace mlir;

namespace lstmc::sym {

/// Runs the rule, and reports E0402 for a value with more elements or axes than a plan may have.
static LogicalResult relate(ShapeRule rule, ShapeRelation &relation) {
  if (failed(rule.relateShapes(relation)))
    return failure();
  for (const ShapeRelation::Fact &fact : relation.facts())
    if (std::optional<std::string> problem = sizeProblem(fact.dims()))
      return relation.refuse(ErrorCode::E0402, {{fact.value}})
             << relation.name(fact.value) << ' ' << *problem;
  return success();
}

static Type elementOf(Value value) { return cast<TensorType>(value.getType()).getElementType(); }

/// E0208 for an element-wise op that does arithmetic on bools; its scalar form shows whether it
/// does.
static LogicalResult checkBools(Operation *op, ShapeRelation &relation) {
  auto isBool = [](Value value) { return elementOf(value).isInteger(1); };
  auto isOpen = [](Value value) { return isa<OpenType>(elementOf(value)); };
  auto rule = dyn_cast<ScalarRule>(op);
  auto operand = llvm::find_if(op->getOperands(), isBool);
  if (!rule || operand == op->operand_end() || llvm::any_of(op->getOperands(), isOpen) ||
      llvm::any_of(op->getResults(), isOpen))
    return success();
  Block block;
  for (Value value : op->getOperands())
    block.addArgument(computeType(elementOf(value)), op->getLoc());
  OpBuilder builder(op->getContext());
  builder.setInsertionPointToEnd(&block);
  rule.emitScalar(builder, block.getArguments());
  for (auto scalar : block.getOps<ApplyScalarOp>())
    if (!mayBe(scalar.scalarOp(), scalar.getResult().getType().isInteger(1)))
      return relation.refuse(ErrorCode::E0208, {{*operand, kTypeAxis}})
             << relation.name(*operand) << " is bool, wants a number";
  return success();
}

LogicalResult verifyShapes(Operation *op) {
  ShapeRelation relation(op, nullptr);
  return success(succeeded(relate(cast<ShapeRule>(op), relation)) &&
                 succeeded(checkBools(op, relation)));
}

/// The op that gives a value: that of a body's argument is the op around the body.
static Operation *makerOf(Value value) {
  if (Operation *op = value.getDefiningOp())
    return op;
  return cast<BlockArgument>(value).getOwner()->getParentOp();
}

void ShapeSolver::enqueue(Operation *op) {
  if (isa<ShapeRule>(op) && queued_.insert(op).second)
    queue_.push_back(op);
}

LogicalResult ShapeSolver::visit(Operation *op, bool laterOpsFollow) {
  auto rule = dyn_cast<ShapeRule>(op);
  if (!rule)
    return success();
  ShapeRelation relation(op, &origins_);
  if (failed(relate(rule, relation)))
    return failure();
  bool again = false;
  for (ShapeRelation::Fact &fact : relation.facts()) {
    if (!fact.changed)
      continue;
    TensorType type = ShapeRelation::typeOf(fact);
    if (type == fact.type)
      continue;
    if (keepUndo_)
      undo_.emplace_back(fact.value, fact.type);
    fact.value.setType(type);
    Operation *maker = makerOf(fact.value);
    if (maker && maker != op)
      enqueue(maker);
    // A rule visits its values once, from operands to results. A fact that it learned about a later
    // value may concern an earlier one, so the rule runs again.
    again |= maker != op || op->getNumResults() > 1;
    // Users of an op's own results come after it, so a sweep visits them anyway.
    if (maker == op && laterOpsFollow)
      continue;
    for (Operation *user : fact.value.getUsers())
      if (user != op)
        enqueue(user);
  }
  if (again)
    enqueue(op);
  return checkBools(op, relation);
}

LogicalResult ShapeSolver::drain() {
  while (!queue_.empty()) {
    Operation *op = queue_.pop_back_val();
    queued_.erase(op);
    if (failed(visit(op, false)))
      return failure();
  }
  return success();
}

LogicalResult ShapeSolver::settle(Operation *op) {
  keepUndo_ = true;
  undo_.clear();
  size_t mark = origins_.mark();
  if (succeeded(visit(op, false)) && succeeded(drain()))
    return success();
  for (auto [value, type] : llvm::reverse(undo_))
    value.setType(type);
  origins_.rollBack(mark);
  queue_.clear();
  queued_.clear();
  return failure();
}

template <typename Visit> static void eachValue(Block &block, Visit visit) {
  for (Value argument : block.getArguments())
    if (isa<TensorType>(argument.getType()))
      visit(argument);
  for (Operation &op : block) {
    for (Region &region : op.getRegions())
      for (Block &body : region)
        eachValue(body, visit);
    for (Value result : op.getResults())
      if (isa<TensorType>(result.getType()))
        visit(result);
  }
}

/// Inputs, variables, states, constants.
static bool isSource(Value value) {
  Operation *op = value.getDefiningOp();
  return !op || op->getNumOperands() == 0;
}

static bool openElement(Value value) {
  return isa<OpenType>(cast<TensorType>(value.getType()).getElementType());
}

LogicalResult ShapeSolver::closeTypes(Block &block) {
  SmallVector<Value> open;
  eachValue(block, [&](Value value) {
    if (isSource(value) && openElement(value))
      open.push_back(value);
  });
  for (Value value : open) {
    if (!openElement(value))
      continue; // was reported together with another one
    value.setType(cast<TensorType>(value.getType()).clone(Float32Type::get(value.getContext())));
    for (Operation *user : value.getUsers())
      if (failed(settle(user)))
        return failure();
  }
  return success();
}

LogicalResult checkClosed(Block &block) {
  static constexpr size_t kMostErrors = 20;
  SmallVector<Value> sources, others;
  eachValue(block, [&](Value value) {
    if (!cast<TensorType>(value.getType()).hasStaticShape() || openElement(value))
      (isSource(value) ? sources : others).push_back(value);
  });
  ArrayRef<Value> open = sources.empty() ? others : sources;
  for (Value value : open.take_front(kMostErrors)) {
    auto type = cast<TensorType>(value.getType());
    std::string what = "the shape";
    if (type.hasStaticShape())
      what = "the type";
    else if (type.hasRank())
      what = "axis " + std::to_string(llvm::find(type.getShape(), kOpen) - type.getShape().begin());
    (void)(emitCoded(value.getLoc(), ErrorCode::E0211)
           << what << " of \"" << userName(value) << "\" follows from nothing");
  }
  return success(open.empty());
}

LogicalResult ShapeSolver::settleAll(Block &block) {
  keepUndo_ = false;
  for (Operation &op : block) {
    WalkResult swept = op.walk<WalkOrder::PreOrder>(
        [&](Operation *each) { return WalkResult(visit(each, each->getNumRegions() == 0)); });
    if (swept.wasInterrupted())
      return failure();
  }
  return drain();
}

} // namespace lstmc::sym
