// place-devices: assigns the ops of split layers to pipeline stages.

#include <list>
#include <map>

#include "mlir/Pass/Pass.h"

#include "executor/abi/Sizes.h"
#include "ir/sym/Attributes.h"
#include "ir/sym/Diagnose.h"
#include "ir/sym/SymOps.h"
#include "passes/Passes.h"
#include "passes/Replica.h"

namespace lstmc::passes {

#define GEN_PASS_DEF_PLACEDEVICES
#include "passes/Passes.h.inc"

namespace {

using mlir::Operation;
using mlir::Value;

/// Identifies an op with parameters in all entries: the ordinal of the op in the net as written,
/// and a counter among the ops created from it.
using Key = std::pair<int64_t, int64_t>;

struct Anchor {
  Operation *op;
  Key key;
  int64_t flops;
};

/// In program order.
std::vector<Anchor> anchorsOf(mlir::func::FuncOp entry) {
  llvm::DenseSet<Value> parameters; // and values computed from parameters alone
  mlir::SymbolTable symbols(entry->getParentOp());
  llvm::DenseMap<int64_t, int64_t> count;
  std::vector<Anchor> anchors;
  for (Operation &op : entry.front().without_terminator()) {
    auto known = [&](Value operand) { return parameters.contains(operand); };
    if (auto read = llvm::dyn_cast<sym::ReadOp>(op)) {
      if (symbols.lookup<sym::ParameterOp>(read.getSourceAttr().getAttr()))
        parameters.insert(read.getValue());
    } else if (op.getNumOperands() > 0 && llvm::all_of(op.getOperands(), known)) {
      parameters.insert(op.result_begin(), op.result_end());
    } else if (auto ordinal = op.getAttrOfType<mlir::IntegerAttr>(sym::kOrdinalAttr);
               ordinal && llvm::any_of(op.getOperands(), known)) {
      auto cost = llvm::dyn_cast<sym::CostRule>(op);
      anchors.push_back({&op,
                         {ordinal.getInt(), count[ordinal.getInt()]++},
                         cost ? std::max<int64_t>(cost.flops(), 1) : 1});
    }
  }
  return anchors;
}

/// Anchors of all entries, each at its position in its own entry: a step lacks ops that no loss
/// depends on.
std::vector<Anchor> anchorsOfAll(llvm::ArrayRef<mlir::func::FuncOp> entries) {
  std::list<Anchor> all;
  std::map<Key, std::list<Anchor>::iterator> known;
  for (mlir::func::FuncOp entry : entries) {
    auto next = all.begin();
    for (const Anchor &anchor : anchorsOf(entry)) {
      auto [found, isNew] = known.try_emplace(anchor.key);
      if (isNew)
        found->second = all.insert(next, anchor);
      next = std::next(found->second);
    }
  }
  return {all.begin(), all.end()};
}

/// Ends of each stage's run such that the largest cost of a run is minimal; among equal solutions
/// longer first runs. `costs`: of every op on each stage.
std::vector<size_t> cutEvenly(llvm::ArrayRef<std::vector<int64_t>> costs, size_t stages) {
  std::vector<std::vector<int64_t>> upTo(stages, {0});
  for (const std::vector<int64_t> &cost : costs)
    for (size_t stage = 0; stage < stages; ++stage)
      upTo[stage].push_back(sum({upTo[stage].back(), cost[stage]}));
  const size_t count = costs.size() + 1;
  // best[k][i]: the minimal cost of the first i ops in k runs.
  const int64_t kNone = std::numeric_limits<int64_t>::max();
  std::vector<std::vector<int64_t>> best(stages + 1, std::vector<int64_t>(count, kNone));
  std::vector<std::vector<size_t>> from(stages + 1, std::vector<size_t>(count, 0));
  best[0][0] = 0;
  for (size_t k = 1; k <= stages; ++k)
    for (size_t i = k; i < count; ++i)
      for (size_t j = i; j-- > k - 1;) {
        int64_t most = std::max(best[k - 1][j], upTo[k - 1][i] - upTo[k - 1][j]);
        if (best[k - 1][j] != kNone && most < best[k][i]) {
          best[k][i] = most;
          from[k][i] = j;
        }
      }
  std::vector<size_t> ends(stages);
  size_t end = costs.size();
  for (size_t k = stages; k > 0; --k) {
    ends[k - 1] = end;
    end = from[k][end];
  }
  return ends;
}

struct PlaceDevices : impl::PlaceDevicesBase<PlaceDevices> {
  using PlaceDevicesBase::PlaceDevicesBase;

  void runOnOperation() override {
    if (stages < 2)
      return;
    for (const std::string &group : groups) {
      auto [name, stage] = llvm::StringRef(group).rsplit('=');
      if (stage.getAsInteger(10, stageOfGroup[name])) {
        getOperation().emitError("place-devices: groups are NAME=STAGE, found ") << group;
        return signalPassFailure();
      }
    }
    auto entries = llvm::to_vector(getOperation().getOps<mlir::func::FuncOp>());
    if (entries.empty() || failed(stageOfGroup.empty() ? decide(entries) : checkGroups()))
      return signalPassFailure();
    for (mlir::func::FuncOp entry : entries)
      place(entry);
  }

private:
  /// Places by cost, over the ops of all entries, because a parameter has the same stage in all of
  /// them.
  mlir::LogicalResult decide(llvm::ArrayRef<mlir::func::FuncOp> entries) {
    std::vector<Anchor> all = anchorsOfAll(entries);
    if (all.size() < size_t(stages))
      return sym::emitCoded(mlir::func::FuncOp(entries.front()), ErrorCode::E0402)
             << "the net has " << all.size() << " ops with parameters, which " << int64_t(stages)
             << " devices cannot share";
    llvm::StringMap<std::vector<int64_t>> given;
    if (failed(readCosts(given)))
      return mlir::failure();
    std::vector<std::vector<int64_t>> byOp;
    for (const Anchor &anchor : all) {
      auto name = anchor.op->getAttrOfType<mlir::StringAttr>(sym::kNameAttr);
      auto said = name ? given.find(name.getValue()) : given.end();
      byOp.push_back(said != given.end()
                         ? said->second
                         : std::vector<int64_t>(size_t(stages), given.empty() ? anchor.flops : 0));
    }
    std::vector<size_t> ends = cutEvenly(byOp, size_t(stages));
    for (size_t i = 0, stage = 0; i < all.size(); ++i) {
      stage += i == ends[stage];
      stageOfAnchor[all[i].key] = int64_t(stage);
    }
    return mlir::success();
  }

  /// Parses `costs` into a map by op name.
  mlir::LogicalResult readCosts(llvm::StringMap<std::vector<int64_t>> &given) {
    for (const std::string &text : costs) {
      auto [name, list] = llvm::StringRef(text).rsplit('=');
      llvm::SmallVector<llvm::StringRef> parts;
      list.split(parts, '/');
      std::vector<int64_t> values(parts.size());
      bool good = parts.size() == size_t(stages);
      for (size_t i = 0; i < parts.size(); ++i)
        good &= !parts[i].getAsInteger(10, values[i]);
      if (!good)
        return getOperation().emitError(
                   "place-devices: costs are NAME=A/B/.. with one for each of ")
               << int64_t(stages) << " stages, found " << text;
      given[name] = std::move(values);
    }
    return mlir::success();
  }

  mlir::LogicalResult checkGroups() {
    llvm::StringMap<bool> found;
    getOperation().walk([&](Operation *op) {
      if (auto group = op->getAttrOfType<mlir::StringAttr>(sym::kGroupAttr))
        found[group.getValue()] = true;
    });
    for (const std::string &group : groups)
      if (llvm::StringRef name = llvm::StringRef(group).rsplit('=').first; !found.contains(name))
        return sym::emitCoded(getOperation(), ErrorCode::E0402)
               << "no op is in ctx_group \"" << name << "\", which is to be placed";
    return mlir::success();
  }

  /// Places ops with a given stage first, then ops after their operands, then the remaining ops
  /// before their first reader.
  void place(mlir::func::FuncOp entry) {
    llvm::DenseMap<Operation *, int64_t> stage;
    if (stageOfGroup.empty())
      for (const Anchor &anchor : anchorsOf(entry))
        stage[anchor.op] = stageOfAnchor.at(anchor.key);
    for (Operation &op : entry.front().without_terminator()) {
      if (auto group = op.getAttrOfType<mlir::StringAttr>(sym::kGroupAttr);
          group && stageOfGroup.contains(group.getValue()))
        stage[&op] = stageOfGroup.lookup(group.getValue());
      if (stage.contains(&op))
        continue;
      int64_t latest = -1;
      for (Value operand : op.getOperands())
        if (auto found = stage.find(operand.getDefiningOp());
            operand.getDefiningOp() && found != stage.end())
          latest = std::max(latest, found->second);
      if (latest >= 0)
        stage[&op] = latest;
    }
    mlir::Builder builder(&getContext());
    for (Operation &op : llvm::reverse(entry.front().without_terminator())) {
      if (!stage.contains(&op))
        stage[&op] =
            llvm::isa<sym::ReadOp>(op) ? ofMainReader(&op, stage) : ofFirstReader(&op, stage);
      op.setAttr(sym::kStageAttr, builder.getI64IntegerAttr(stage[&op]));
    }
  }

  static int64_t ofFirstReader(Operation *op, const llvm::DenseMap<Operation *, int64_t> &stage) {
    int64_t first = std::numeric_limits<int64_t>::max();
    for (Operation *user : op->getUsers())
      if (auto found = stage.find(user); found != stage.end())
        first = std::min(first, found->second);
    return first == std::numeric_limits<int64_t>::max() ? 0 : first;
  }

  /// A shared weight goes to the stage with most of the computation on it, because the other uses
  /// send less.
  static int64_t ofMainReader(Operation *op, const llvm::DenseMap<Operation *, int64_t> &stage) {
    int64_t most = -1, best = 0;
    for (Operation *user : op->getUsers()) {
      auto cost = llvm::dyn_cast<sym::CostRule>(user);
      int64_t flops = cost ? cost.flops() : 0;
      auto found = stage.find(user);
      if (found != stage.end() && (flops > most || (flops == most && found->second < best))) {
        most = flops;
        best = found->second;
      }
    }
    return best;
  }

  llvm::StringMap<int64_t> stageOfGroup;
  std::map<Key, int64_t> stageOfAnchor;
};

} // namespace
} // namespace lstmc::passes
