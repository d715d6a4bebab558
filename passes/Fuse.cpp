// fuse: element-wise ops into sym.fused regions.
//
// Upward pass: every op has a height above the end of its function. A producer that joins its
// consumers' region takes their height; every other edge descends by at least one. Regions of one
// height therefore cannot depend on one another, and the graph of regions and single ops stays
// acyclic whatever is joined. Downward pass, in the resulting order: a consumer joins the deepest
// of its producers' regions if its other operands are less deep, and takes that depth; again every
// other edge changes depth.

#include <deque>

#include "ir/sym/Attributes.h"
#include "ir/sym/Create.h"
#include "ir/sym/SymOps.h"
#include "passes/LaunchLocation.h"
#include "passes/OperandSlices.h"
#include "passes/Passes.h"
#include "passes/ShardTree.h"
#include "passes/lowering/FusedPrograms.h"

namespace lstmc::passes {

#define GEN_PASS_DEF_FUSE
#include "passes/Passes.h.inc"

namespace {

using mlir::Operation;
using mlir::Value;

/// Ops of one shape that become one region, if this is a root of the union.
struct Group {
  unsigned parent;
  unsigned ops = 0;
  unsigned edges = 0; ///< operands and results of its ops, an upper bound of the region's
  mlir::RankedTensorType shape;
  /// Window of the masks among its ops; masks with another window may not join.
  std::optional<mlir::DenseI64ArrayAttr> window;

  bool agrees(const Group &other) const {
    return !window || !other.window || *window == *other.window;
  }
  void take(const Group &other) {
    ops += other.ops;
    edges += other.edges;
    if (!window)
      window = other.window;
  }
};

class Fuser {
public:
  Fuser(mlir::func::FuncOp function, unsigned maxOps, unsigned maxOperands)
      : block(function.front()), maxOps(maxOps), maxOperands(maxOperands) {
    Operation *last = nullptr;
    for (Operation &op : block)
      if (llvm::isa<sym::SendOp, sym::ReceiveOp>(op)) {
        if (last) {
          before[&op] = last;
          after[last] = &op;
        }
        last = &op;
      }
  }

  void run() {
    for (Operation &op : llvm::reverse(block.without_terminator()))
      visit(&op);
    collect();
    if (members.empty())
      return;
    joinProducers(orderOfUnits());
    rewrite(orderOfUnits());
  }

private:
  static bool canFuse(Operation *op) {
    if (!llvm::isa<sym::ScalarRule>(op) || op->getNumResults() != 1)
      return false;
    llvm::ArrayRef<int64_t> shape = sym::rankedType(op->getResult(0)).getShape();
    return llvm::all_of(op->getOperands(), [&](Value operand) {
      return stretches(sym::rankedType(operand).getShape(), shape);
    });
  }

  /// Whether `from` broadcasts to `to` by extents of 1 and leading axes. lower-to-exec handles
  /// other reshapes.
  static bool stretches(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to) {
    if (from.size() > to.size())
      return false;
    for (auto [f, t] : llvm::zip(llvm::reverse(from), llvm::reverse(to)))
      if (f != t && f != 1)
        return false;
    return true;
  }

  /// A value of a narrow type is rounded when it is stored, so it must be stored.
  static bool isNarrow(Value value) {
    mlir::Type element = sym::rankedType(value).getElementType();
    return sym::computeType(element) != element;
  }

  /// Whether `user` is recomputed for backward (rematerialise) from `op`'s result: if both were in
  /// one region, the result would be computed in forward and kept.
  static bool isKeptFor(Operation *op, Operation *user) {
    return user->hasAttr(sym::kRecomputeAttr) && !op->hasAttr(sym::kRecomputeAttr);
  }

  /// Whether `op` adds parts of the batch for a further addition with later parts. If both were in
  /// one region, the addition would run after all parts, and its operands would be kept until then.
  static bool precedesParts(Operation *op, Operation *user) {
    return op->hasAttr(kAggregateAttr) && user->hasAttr(kAggregateAttr) &&
           user->getOperand(0).getDefiningOp() == op;
  }

  unsigned root(unsigned group) {
    while (groups[group].parent != group)
      group = groups[group].parent = groups[groups[group].parent].parent;
    return group;
  }

  /// Joins the highest consumers if they have the op's shape and are the only ones at that height.
  void visit(Operation *op) {
    int64_t height = 0;
    for (Operation *user : op->getUsers())
      height = std::max(height, heights.lookup(user));
    if (Operation *next = after.lookup(op))
      height = std::max(height, heights.lookup(next));
    bool fuses = canFuse(op);
    auto shape = fuses ? sym::rankedType(op->getResult(0)) : mlir::RankedTensorType();
    bool joins = fuses && !isNarrow(op->getResult(0));
    llvm::SmallVector<unsigned, 4> consumers;
    for (Operation *user : op->getUsers()) {
      if (heights.lookup(user) != height)
        continue;
      auto found = groupOf.find(user);
      joins &= found != groupOf.end() && !isKeptFor(op, user) && !precedesParts(op, user);
      if (!joins)
        break;
      unsigned group = root(found->second);
      joins &= groups[group].shape.getShape() == shape.getShape();
      if (!llvm::is_contained(consumers, group))
        consumers.push_back(group);
    }
    joins &= !consumers.empty();
    Group joined{unsigned(groups.size()), 1, op->getNumOperands() + 1, shape, {}};
    if (llvm::isa<sym::DropoutMaskOp>(op))
      joined.window = windowOf(op);
    const Group alone = joined;
    for (unsigned group : consumers) {
      joins &= joined.agrees(groups[group]);
      joined.take(groups[group]);
    }
    joins &= joined.ops <= maxOps && joined.edges <= 2 * maxOperands;
    heights[op] = joins ? height : height + 1;
    if (!fuses)
      return;
    if (!joins) {
      groupOf[op] = unsigned(groups.size());
      groups.push_back(alone);
      return;
    }
    unsigned first = consumers.front();
    for (unsigned group : llvm::drop_begin(consumers))
      groups[group].parent = first;
    joined.parent = first;
    groups[first] = joined;
    groupOf[op] = first;
  }

  /// Members of every group, in program order.
  void collect() {
    for (Operation &op : block.without_terminator())
      if (auto found = groupOf.find(&op); found != groupOf.end()) {
        found->second = root(found->second);
        members[found->second].push_back(&op);
      }
  }

  /// The ops that run together with `op`.
  llvm::ArrayRef<Operation *> unitOf(Operation *const &op) {
    auto group = groupOf.find(op);
    return group == groupOf.end() ? llvm::ArrayRef<Operation *>(op)
                                  : llvm::ArrayRef<Operation *>(members[group->second]);
  }

  /// Program order, except that a group stands at its last op, or earlier if something needs it
  /// earlier.
  llvm::SmallVector<Operation *> orderOfUnits() {
    struct Frame {
      llvm::ArrayRef<Operation *> unit;
      unsigned op = 0, operand = 0;
    };
    llvm::SmallVector<Operation *> order, old;
    llvm::DenseSet<Operation *> done;
    llvm::DenseMap<unsigned, unsigned> left;
    for (Operation &op : block.without_terminator()) {
      old.push_back(&op);
      if (auto group = groupOf.find(&op); group != groupOf.end())
        ++left[group->second];
    }
    llvm::SmallVector<Frame> stack;
    for (Operation *const &op : old) {
      auto group = groupOf.find(op);
      if (done.contains(op) || (group != groupOf.end() && --left[group->second] > 0))
        continue;
      stack.push_back({unitOf(op)});
      while (!stack.empty()) {
        Frame &frame = stack.back();
        if (frame.op == frame.unit.size()) {
          done.insert(frame.unit.begin(), frame.unit.end());
          order.append(frame.unit.begin(), frame.unit.end());
          stack.pop_back();
          continue;
        }
        Operation *member = frame.unit[frame.op];
        if (frame.operand > member->getNumOperands()) {
          ++frame.op;
          frame.operand = 0;
          continue;
        }
        Operation *producer = producerOf(member, frame.operand++);
        if (!producer || done.contains(producer) || sameUnit(producer, member))
          continue;
        waiting.push_back(producer);
        stack.push_back({unitOf(waiting.back())});
      }
    }
    return order;
  }

  /// The op that defines operand `i`; for the index after the last operand, the op that must
  /// precede it for other reasons.
  Operation *producerOf(Operation *op, unsigned i) const {
    return i < op->getNumOperands() ? op->getOperand(i).getDefiningOp() : before.lookup(op);
  }

  bool sameUnit(Operation *a, Operation *b) const {
    auto first = groupOf.find(a), second = groupOf.find(b);
    return first != groupOf.end() && second != groupOf.end() && first->second == second->second;
  }

  void joinProducers(llvm::ArrayRef<Operation *> order) {
    llvm::DenseMap<Operation *, int64_t> depths; // depth of single ops, and of each op of a group
    for (size_t i = 0; i < order.size();) {
      llvm::ArrayRef<Operation *> unit = unitOf(order[i]);
      size_t size = unit.size();
      int64_t deepest = -1;
      bool alone = true; // the deepest producer is unique, or in one group
      Operation *candidate = nullptr;
      for (Operation *op : unit)
        for (unsigned operand = 0; operand <= op->getNumOperands(); ++operand) {
          Operation *producer = producerOf(op, operand);
          if (!producer || sameUnit(producer, op))
            continue;
          int64_t depth = depths.lookup(producer);
          if (depth > deepest) {
            deepest = depth;
            candidate = producer;
            alone = true;
          } else if (depth == deepest && producer != candidate && !sameUnit(producer, candidate)) {
            alone = false;
          }
        }
      auto into = candidate ? groupOf.find(candidate) : groupOf.end();
      auto from = groupOf.find(order[i]);
      if (alone && into != groupOf.end() && from != groupOf.end() &&
          canJoin(from->second, into->second)) {
        unsigned target = into->second, source = from->second;
        groups[target].take(groups[source]);
        llvm::SmallVector<Operation *> moved = std::move(members[source]);
        members[source].clear();
        members[target].append(moved.begin(), moved.end());
        for (Operation *op : moved) {
          groupOf[op] = target;
          depths[op] = deepest;
        }
      } else {
        for (Operation *op : unit)
          depths[op] = deepest + 1;
      }
      i += size;
    }
  }

  bool canJoin(unsigned consumer, unsigned producer) {
    const Group &a = groups[consumer], &b = groups[producer];
    if (a.shape.getShape() != b.shape.getShape() || !a.agrees(b) || a.ops + b.ops > maxOps ||
        a.edges + b.edges > 2 * maxOperands)
      return false;
    for (Operation *op : members[consumer])
      for (Value operand : op->getOperands())
        if (auto maker = groupOf.find(operand.getDefiningOp());
            maker != groupOf.end() && maker->second == producer &&
            (isKeptFor(maker->first, op) || precedesParts(maker->first, op)))
          return false;
    return llvm::none_of(members[producer],
                         [&](Operation *op) { return isNarrow(op->getResult(0)); });
  }

  /// Reorders the ops, and turns groups of two or more into regions.
  void rewrite(llvm::ArrayRef<Operation *> order) {
    Operation *end = block.getTerminator();
    for (Operation *op : order)
      op->moveBefore(end);
    for (size_t i = 0; i < order.size();) {
      llvm::ArrayRef<Operation *> unit = unitOf(order[i]);
      i += unit.size();
      if (unit.size() > 1)
        build(unit);
    }
  }

  /// Creates the region after the last of its ops and erases these. Leaves the ops unchanged if a
  /// limit of abi/ScalarOps.h is exceeded.
  void build(llvm::ArrayRef<Operation *> unit) {
    llvm::SmallDenseSet<Operation *, 16> inside(unit.begin(), unit.end());
    llvm::SmallVector<Value> operands, results;
    llvm::SmallVector<mlir::Type> types;
    mlir::OpBuilder builder(unit.back()->getContext());
    auto body = std::make_unique<mlir::Block>();
    llvm::DenseMap<Value, Value> scalars;
    builder.setInsertionPointToEnd(body.get());
    for (Operation *op : unit) {
      llvm::SmallVector<Value> elements;
      for (Value operand : op->getOperands()) {
        Value &scalar = scalars[operand];
        if (!scalar) {
          operands.push_back(operand);
          scalar = body->addArgument(sym::computeType(sym::rankedType(operand).getElementType()),
                                     operand.getLoc());
        }
        elements.push_back(scalar);
      }
      Operation *before = body->empty() ? nullptr : &body->back();
      Value value = llvm::cast<sym::ScalarRule>(op).emitScalar(builder, elements);
      nameInstructions(op, before, *body);
      Value result = op->getResult(0);
      scalars[result] = value;
      if (llvm::any_of(result.getUsers(),
                       [&](Operation *user) { return !inside.contains(user); })) {
        results.push_back(result);
        types.push_back(result.getType());
      }
    }
    llvm::SmallVector<Value> yielded;
    for (Value result : results)
      yielded.push_back(scalars[result]);
    builder.create<sym::YieldOp>(unit.back()->getLoc(), yielded);
    dropUnused(*body, operands);
    if (results.empty() || operands.size() + results.size() > maxOperands ||
        !measureBody(*body).withinLimits())
      return;
    builder.setInsertionPointAfter(unit.back());
    auto fused = builder.create<sym::FusedOp>(unit.back()->getLoc(), types, operands);
    for (Operation *op : unit)
      if (mlir::DenseI64ArrayAttr window = windowOf(op))
        fused.setWindowAttr(window);
    if (auto name = unit.back()->getAttr(sym::kNameAttr))
      fused->setAttr(sym::kNameAttr, name);
    copyOperandSlices(unit.back(), fused);
    fused.getBody().push_back(body.release());
    for (auto [old, result] : llvm::zip_equal(results, fused.getResults()))
      old.replaceAllUsesWith(result);
    for (Operation *op : llvm::reverse(unit))
      op->erase();
  }

  /// Instructions after `before` keep which op they compute.
  static void nameInstructions(Operation *op, Operation *before, mlir::Block &body) {
    for (Operation &made : llvm::reverse(body)) {
      if (&made == before)
        return;
      made.setLoc(launchLocation(op));
    }
  }

  static void dropUnused(mlir::Block &body, llvm::SmallVectorImpl<Value> &operands) {
    for (unsigned i = body.getNumArguments(); i-- > 0;)
      if (body.getArgument(i).use_empty()) {
        body.eraseArgument(i);
        operands.erase(operands.begin() + i);
      }
  }

  mlir::Block &block;
  unsigned maxOps, maxOperands;
  llvm::DenseMap<Operation *, Operation *> before,
      after; ///< of transfers, which keep their order: the next ones
  llvm::DenseMap<Operation *, int64_t> heights;
  llvm::DenseMap<Operation *, unsigned> groupOf;
  std::vector<Group> groups;
  llvm::DenseMap<unsigned, llvm::SmallVector<Operation *>> members;
  std::deque<Operation *> waiting; ///< keeps what unitOf refers to
};

struct Fuse : impl::FuseBase<Fuse> {
  using FuseBase::FuseBase;

  void runOnOperation() override {
    for (auto function : getOperation().getOps<mlir::func::FuncOp>())
      Fuser(function, maxOps, maxOperands).run();
  }
};

} // namespace
} // namespace lstmc::passes
