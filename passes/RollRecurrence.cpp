// roll-recurrence: replaces unrolled recurrent layers by loops.

#include <deque>

#include "mlir/Pass/Pass.h"

#include "ir/sym/Attributes.h"
#include "passes/Passes.h"
#include "passes/PlacementListener.h"
#include "passes/rolling/OtherLoops.h"
#include "passes/rolling/UnrolledLayer.h"

namespace lstmc::passes {

#define GEN_PASS_DEF_ROLLRECURRENCE
#include "passes/Passes.h.inc"

namespace {

using mlir::Operation;
using mlir::Value;

class Roller {
public:
  Roller(mlir::func::FuncOp net, llvm::ArrayRef<std::string> keep)
      : net(net), keep(keep), order(net), builder(net.getContext(), &ordinal) {}
  ~Roller() {
    for (Operation *op : removed)
      op->destroy();
  }

  void run() {
    findCells();
    for (Cell &cell : cells)
      if (!follows.contains(&cell) && next.contains(&cell))
        visit(cell);
    if (!ordinals.empty())
      keepOrdinals();
    for (const OtherLoop &loop : otherLoops(net, said))
      say(loop.name, "loop", loop.steps, "its steps are not those of an LSTM, GRU or RNN", {});
  }

  /// Entries of the attribute `sym.rolled`.
  llvm::SmallVector<mlir::Attribute> layers;

private:
  void findCells() {
    for (Operation &op : net.front().without_terminator()) {
      std::optional<Cell> found = cellThatEndsWith(&op);
      if (!found)
        continue;
      Cell &cell = cells.emplace_back(std::move(*found));
      Cell *before = cellBefore(cell);
      if (before && next.try_emplace(before, &cell).second)
        follows.insert(&cell);
      byState[cell.state()] = &cell;
    }
  }

  Cell *cellBefore(Cell &cell) {
    auto like = [&](Value state) {
      Cell *before = byState.lookup(state);
      return before && before->mode == cell.mode ? before : nullptr;
    };
    if (cell.stateBefore)
      return like(cell.stateBefore->get());
    auto weight = [](Cell &of, int product) { return of.products[product].getWeight(); };
    for (sym::FullyConnectedOp product : cell.products)
      if (Cell *before = like(product.getData()))
        for (int other : {0, 1})
          if (weight(*before, other) == weight(cell, 0) &&
              weight(*before, 1 - other) == weight(cell, 1))
            return before;
    return nullptr;
  }

  void visit(Cell &first) {
    llvm::SmallVector<Cell *> steps;
    for (Cell *cell = &first; cell; cell = next.lookup(cell))
      steps.push_back(cell);
    for (llvm::ArrayRef<Cell *> part : partsOf(steps))
      visit(part);
  }

  /// The steps, cut after each c that is read outside of the cells: the last c of a layer may be.
  /// As a whole where that would leave a single step, or many parts.
  static llvm::SmallVector<llvm::ArrayRef<Cell *>> partsOf(llvm::ArrayRef<Cell *> steps) {
    constexpr size_t kMostParts = 8;
    llvm::SmallVector<llvm::ArrayRef<Cell *>> parts;
    size_t begin = 0;
    for (size_t t = 0; t < steps.size(); ++t) {
      const bool last = t + 1 == steps.size();
      if (!last && !(steps[t]->c && isReadOutside(*steps[t], *steps[t + 1])))
        continue;
      parts.push_back(steps.slice(begin, t + 1 - begin));
      begin = t + 1;
    }
    if (parts.size() > kMostParts ||
        llvm::any_of(parts, [](llvm::ArrayRef<Cell *> part) { return part.size() < 2; }))
      return {steps};
    return parts;
  }
  static bool isReadOutside(const Cell &step, const Cell &after) {
    return llvm::any_of(step.c.getUses(), [&](mlir::OpOperand &use) {
      return &use != after.stateBefore && !step.ops.contains(use.getOwner());
    });
  }

  void visit(llvm::ArrayRef<Cell *> steps) {
    UnrolledLayer layer(steps, order);
    std::string reason = namedIn(steps);
    if (reason.empty())
      reason = layer.whyNot();
    const std::string_view mode = kRnnModeNames[size_t(steps.front()->mode)];
    say(layer.name(), {mode.data(), mode.size()}, int64_t(steps.size()), reason,
        reason.empty() ? layer.rounding() : std::string());
    if (!reason.empty()) {
      for (const Cell *cell : steps)
        for (Operation *op : cell->ops)
          said.insert(op->operand_begin(), op->operand_end());
      return;
    }
    if (ordinals.empty())
      for (auto [number, op] : llvm::enumerate(net.front()))
        ordinals[&op] = int64_t(number);
    ordinal.set(ordinals.lookup(layer.place()));
    layer.roll(builder, removed);
  }

  void say(llvm::StringRef name, llvm::StringRef mode, int64_t cells, const std::string &reason,
           const std::string &rounding) {
    mlir::NamedAttrList entry;
    entry.append("name", builder.getStringAttr(name));
    entry.append("mode", builder.getStringAttr(mode));
    entry.append("cells", builder.getI64IntegerAttr(cells));
    if (!reason.empty())
      entry.append("reason", builder.getStringAttr(reason));
    if (!rounding.empty())
      entry.append("rounding", builder.getStringAttr(rounding));
    layers.push_back(entry.getDictionary(builder.getContext()));
  }

  /// The name of an op of the steps that is in `keep`; empty if there is none.
  std::string namedIn(llvm::ArrayRef<Cell *> steps) const {
    for (const Cell *cell : steps)
      for (Operation *op : cell->ops)
        if (auto name = op->getAttrOfType<mlir::StringAttr>(sym::kNameAttr);
            name && llvm::is_contained(keep, name.getValue()))
          return name.str() + " is to be recomputed";
    return {};
  }

  /// Random numbers and initial values are drawn by the ordinal of an op in the net as written;
  /// make-entries continues from the ordinals set here.
  void keepOrdinals() {
    int64_t counted = 0;
    for (Operation &op : net.front().without_terminator()) {
      auto known = ordinals.find(&op);
      const int64_t own = known != ordinals.end()
                              ? known->second
                              : op.getAttrOfType<mlir::IntegerAttr>(sym::kOrdinalAttr).getInt();
      if (own != counted)
        op.setAttr(sym::kOrdinalAttr, builder.getI64IntegerAttr(own));
      counted = own + 1;
    }
  }

  mlir::func::FuncOp net;
  llvm::ArrayRef<std::string> keep;
  GradientOrder order;
  PlacementListener ordinal{sym::kOrdinalAttr};
  mlir::OpBuilder builder;
  std::deque<Cell> cells; ///< in program order of their h
  llvm::DenseMap<Value, Cell *> byState;
  llvm::DenseMap<Cell *, Cell *> next;
  llvm::DenseSet<Cell *> follows;
  llvm::DenseMap<Operation *, int64_t> ordinals; ///< as written; empty before the first layer
  llvm::DenseSet<Value> said;                    ///< operands of layers that stay as they are
  UnrolledLayer::Removed removed; ///< kept, so that no new op has the address of an old one
};

struct RollRecurrence : impl::RollRecurrenceBase<RollRecurrence> {
  using RollRecurrenceBase::RollRecurrenceBase;

  void runOnOperation() override {
    llvm::SmallVector<mlir::Attribute> layers;
    const llvm::SmallVector<std::string> kept(keep.begin(), keep.end());
    for (auto net : getOperation().getOps<mlir::func::FuncOp>()) {
      Roller roller(net, kept);
      roller.run();
      llvm::append_range(layers, roller.layers);
    }
    if (!layers.empty())
      getOperation()->setAttr(sym::kRolledAttr, mlir::ArrayAttr::get(&getContext(), layers));
  }
};

} // namespace
} // namespace lstmc::passes
