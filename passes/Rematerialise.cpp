// rematerialise: recomputes the values of recompute groups in backward.

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"

#include "executor/abi/Sizes.h"
#include "ir/sym/Attributes.h"
#include "ir/sym/Create.h"
#include "ir/sym/Diagnose.h"
#include "ir/sym/Groups.h"
#include "ir/sym/SymOps.h"
#include "passes/Backward.h"
#include "passes/Chunks.h"
#include "passes/EntryMarks.h"
#include "passes/OperandSlices.h"
#include "passes/Passes.h"

namespace lstmc::passes {

#define GEN_PASS_DEF_REMATERIALISE
#include "passes/Passes.h.inc"

namespace {

using mlir::Attribute;
using mlir::Operation;
using mlir::Value;

/// A group of ops that are recomputed together: those of one recompute group and ctx_group, on one
/// stage. Values between segments are kept.
using Segment = std::tuple<Attribute, Attribute, Attribute>;

/// What is marked by `recompute()` or by a name of --recompute.
struct Scope {
  mlir::Location place;
  bool acts = false; ///< an op in it is recomputed
};

/// Whether the recompute group of an op is a segment of steps (split-layers).
bool isOfSteps(Operation *op) {
  return op->getAttrOfType<mlir::IntegerAttr>(sym::kRecomputeAttr) != nullptr;
}

/// A segment of steps contains all layers, whatever their ctx_group.
Segment segmentOf(Operation *op) {
  return {sym::groupOf(op, sym::kRecomputeAttr),
          isOfSteps(op) ? Attribute() : op->getAttr(sym::kGroupAttr), op->getAttr(sym::kStageAttr)};
}

int64_t bytesOf(Value value) {
  mlir::RankedTensorType type = sym::rankedType(value);
  return type.getNumElements() * ((type.getElementTypeBitWidth() + 7) / 8);
}

/// One training entry.
class Remaker {
public:
  explicit Remaker(mlir::func::FuncOp entry)
      : builder(entry.getContext()), entry(entry), end(entry.front().getTerminator()) {
    bool isBackward = false;
    for (Operation &op : entry.front().without_terminator()) {
      isBackward |= op.hasAttr(kBackwardAttr);
      if (isBackward)
        backward.push_back(&op);
      else
        places[&op] = unsigned(places.size());
    }
  }

  /// Segments whose recomputation requires keeping as much as it saves.
  llvm::DenseSet<Segment> findUseless() {
    llvm::MapVector<Segment, llvm::SetVector<Value>> wanted;
    llvm::DenseSet<Value> kept;
    for (Operation *op : backward)
      for (Value operand : op->getOperands())
        if (isInside(operand))
          wanted[segmentOf(operand.getDefiningOp())].insert(operand);
        else
          kept.insert(operand);
    llvm::DenseSet<Segment> useless;
    for (const auto &[segment, values] : wanted) {
      int64_t saved = sum(llvm::map_to_vector(values, bytesOf));
      llvm::SetVector<Value> entering;
      for (Operation *op : opsFor(values.getArrayRef()))
        for (Value operand : op->getOperands())
          if (!isInside(operand) && !kept.contains(operand) && operand.getDefiningOp() &&
              !llvm::isa<sym::ReadOp>(operand.getDefiningOp()))
            entering.insert(operand);
      if (saved > sum(llvm::map_to_vector(entering, bytesOf)))
        kept.insert(entering.begin(), entering.end());
      else
        useless.insert(segment);
    }
    return useless;
  }

  /// Recomputes everything as late as possible: for each backward op what only it and later ops
  /// need.
  void run(const llvm::DenseSet<Segment> &useless) {
    for (auto [op, operands] : llvm::zip_equal(backward, wantedAt()))
      for (mlir::OpOperand *operand : operands)
        if (isInside(operand->get()) &&
            !useless.contains(segmentOf(operand->get().getDefiningOp())))
          operand->set(again(operand->get(), op));
    for (Operation &op : entry.front())
      if (places.contains(&op))
        op.removeAttr(sym::kRecomputeAttr);
  }

  /// Adds the scopes of ops in forward, and the names of --recompute. Before run(), which removes
  /// their marks.
  void addScopes(llvm::MapVector<Attribute, Scope> &scopes) {
    for (Operation &op : entry.front()) {
      Attribute mark = op.getAttr(sym::kRecomputeAttr);
      if (auto place = llvm::dyn_cast_or_null<mlir::LocationAttr>(mark))
        scopes.try_emplace(mark, Scope{place});
      else if (llvm::isa_and_nonnull<mlir::StringAttr>(mark))
        scopes.try_emplace(mark, Scope{op.getLoc()});
    }
  }

  llvm::DenseSet<Attribute> recomputed; ///< values of `sym.recompute` of recomputed ops

private:
  /// For each backward op, the operands that must exist before it: its own, and those of sums over
  /// chunks whose chunk begins with it.
  std::vector<llvm::SmallVector<mlir::OpOperand *>> wantedAt() {
    std::vector<llvm::SmallVector<mlir::OpOperand *>> wanted(backward.size());
    llvm::DenseMap<Operation *, size_t> index;
    llvm::DenseMap<int64_t, llvm::SmallVector<size_t>> byChunk;
    for (auto [i, op] : llvm::enumerate(backward)) {
      index[op] = i;
      if (auto chunk = op->getAttrOfType<mlir::DenseI64ArrayAttr>(kChunkAttr))
        byChunk[chunk[0]].push_back(i);
    }
    for (auto [i, op] : llvm::enumerate(backward)) {
      auto sum = llvm::dyn_cast<sym::WeightGradientOp>(op);
      auto chunks = op->getAttrOfType<mlir::DenseI64ArrayAttr>(kUseChunksAttr);
      for (mlir::OpOperand &operand : op->getOpOperands()) {
        size_t at = i;
        size_t uses = sum ? sum.getDys().size() : 0, number = operand.getOperandNumber();
        if (chunks && number >= uses && number < 2 * uses) {
          Operation *dy = sum.getDys()[number - uses].getDefiningOp();
          llvm::ArrayRef<size_t> inChunk = byChunk[chunks[number - uses]];
          const size_t *first = llvm::lower_bound(inChunk, dy ? index.lookup(dy) : 0);
          at = first != inChunk.end() ? std::min(*first, i) : i;
        }
        wanted[at].push_back(&operand);
      }
    }
    return wanted;
  }

  /// Whether a value is read in forward only by ops of its own segment, and may be recomputed. Not
  /// the values of loss heads, where backward begins, nor the output of a recurrent layer: it is
  /// part of what the layer keeps for backward, and without it all preceding layers would have to
  /// run again at once. For a segment of steps the latter is intended.
  bool isInside(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || !places.contains(op) || !op->hasAttr(sym::kRecomputeAttr) ||
        llvm::isa<sym::LossHead>(op) || !mlir::isPure(op))
      return false;
    auto [known, isNew] = inside.try_emplace(value, false);
    if (!isNew)
      return known->second;
    if (auto layer = llvm::dyn_cast<sym::RnnLayerOp>(op);
        layer && !isOfSteps(op) &&
        (value == layer.getY() || value == layer.getHN() || value == layer.getCN()))
      return false;
    return known->second = llvm::none_of(value.getUsers(), [&](Operation *user) {
             return user == end || (places.contains(user) && segmentOf(user) != segmentOf(op));
           });
  }

  /// The ops that compute values from kept or already recomputed ones, in program order.
  llvm::SmallVector<Operation *> opsFor(llvm::ArrayRef<Value> values) {
    llvm::SetVector<Operation *> ops;
    auto need = [&](Value value) {
      if (isInside(value) && !remade.contains(value))
        ops.insert(value.getDefiningOp());
    };
    llvm::for_each(values, need);
    for (size_t i = 0; i < ops.size(); ++i)
      llvm::for_each(ops[i]->getOperands(), need);
    llvm::SmallVector<Operation *> ordered = ops.takeVector();
    llvm::sort(ordered,
               [&](Operation *a, Operation *b) { return places.lookup(a) < places.lookup(b); });
    return ordered;
  }

  Value again(Value value, Operation *before) {
    builder.setInsertionPoint(before);
    for (Operation *op : opsFor(value)) {
      mlir::IRMapping map;
      for (Value operand : op->getOperands())
        if (Value made = remade.lookup(operand))
          map.map(operand, made);
      Operation *copy = builder.clone(*op, map);
      recomputed.insert(op->getAttr(sym::kRecomputeAttr));
      for (auto [old, made] : llvm::zip_equal(op->getResults(), copy->getResults()))
        if (isInside(old))
          remade[old] = made;
    }
    return remade.lookup(value);
  }

  mlir::OpBuilder builder;
  mlir::func::FuncOp entry;
  Operation *end;
  llvm::DenseMap<Operation *, unsigned> places; ///< of forward ops
  llvm::SmallVector<Operation *> backward;
  llvm::DenseMap<Value, bool> inside;
  llvm::DenseMap<Value, Value> remade;
};

struct Rematerialise : impl::RematerialiseBase<Rematerialise> {
  using RematerialiseBase::RematerialiseBase;

  void runOnOperation() override {
    std::optional<llvm::DenseSet<Segment>> useless;
    llvm::MapVector<Attribute, Scope> scopes;
    for (auto entry : getOperation().getOps<mlir::func::FuncOp>()) {
      if (!entry->hasAttr(kTrainingAttr)) {
        entry.walk([](Operation *op) { op->removeAttr(sym::kRecomputeAttr); });
        continue;
      }
      Remaker remaker(entry);
      if (!useless) // parts of the batch follow the decision for the whole, whatever their sizes
        useless = remaker.findUseless();
      remaker.addScopes(scopes);
      remaker.run(*useless);
      for (auto &[mark, scope] : scopes)
        scope.acts |= remaker.recomputed.contains(mark);
    }
    for (const auto &[mark, scope] : scopes)
      if (!scope.acts) {
        auto name = llvm::dyn_cast<mlir::StringAttr>(mark);
        sym::warnCoded(scope.place, ErrorCode::E0319)
            << "recompute" << (name ? " of \"" + name.str() + "\"" : "")
            << " has no effect: backward reads nothing that only ops in it read, or recomputing "
               "would keep as much as it saves";
      }
  }
};

} // namespace
} // namespace lstmc::passes
