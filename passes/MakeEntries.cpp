// make-entries: creates one function per entry point from the user's net.

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringSet.h"

#include "executor/abi/Kernels.h"
#include "ir/sym/Attributes.h"
#include "ir/sym/Create.h"
#include "ir/sym/Diagnose.h"
#include "ir/sym/Expression.h"
#include "ir/sym/WrittenOps.h"
#include "passes/BatchPositions.h"
#include "passes/Dropout.h"
#include "passes/EntryMarks.h"
#include "passes/HeadDivisors.h"
#include "passes/MixingOps.h"
#include "passes/NamePattern.h"
#include "passes/Passes.h"
#include "passes/Replica.h"

namespace lstmc::passes {

#define GEN_PASS_DEF_MAKEENTRIES
#include "passes/Passes.h.inc"

namespace {

using mlir::Operation;
using mlir::Value;

constexpr llvm::StringLiteral kLearningRate = "learning_rate", kUpdate = "update", kSeed = "seed";

/// The entry points, and what each of them keeps of the net.
struct EntryKind {
  llvm::StringRef name;
  bool training; ///< dropout drops, gradients follow
  bool metrics;  ///< returns measures of the loss heads instead of the net's outputs
};
constexpr EntryKind kEntryKinds[] = {
    {"forward", false, false}, {"evaluate", false, true}, {"step", true, true}};

class Maker {
public:
  /// `scores`: whether `evaluate` returns them too (LossHead::buildScores).
  Maker(mlir::ModuleOp module, mlir::func::FuncOp net, int64_t shards,
        llvm::ArrayRef<std::string> carry, bool scores)
      : module(module), net(net), shards(shards), carry(carry), scores(scores),
        builder(module.getContext()) {}

  /// Sets the ordinal in the net as written. Unless `placed`, only on ops that draw random numbers,
  /// because attributes that are unique to an op are expensive.
  void number(bool placed) {
    int64_t ordinal = 0;
    for (Operation &op : net.front()) {
      // Ops added by replicate have the ordinal of their neighbour.
      bool after = llvm::isa<sym::OwnRowsOp>(op), added = after || llvm::isa<sym::AllRowsOp>(op);
      if (auto written = op.getAttrOfType<mlir::IntegerAttr>(sym::kOrdinalAttr))
        ordinal = written.getInt();
      const int64_t own = std::max<int64_t>(ordinal - (after ? 1 : 0), 0);
      op.removeAttr(sym::kOrdinalAttr);
      if (llvm::isa<sym::VariableOp>(op))
        ordinals[&op] = own;
      else if (placed || llvm::isa<sym::DropoutOp, sym::RnnOp>(op))
        op.setAttr(sym::kOrdinalAttr, builder.getI64IntegerAttr(own));
      ordinal += added ? 0 : 1;
    }
  }

  /// Puts the ops of a ctx_group or of a name into a recompute group of that name; an op that
  /// matches several gets the first. E0402 for a name without ops.
  mlir::LogicalResult recompute(llvm::ArrayRef<std::string> names) {
    llvm::StringSet<> found;
    for (Operation &op : net.front().without_terminator()) {
      auto is = [&](llvm::StringRef attribute, llvm::StringRef name) {
        auto given = op.getAttrOfType<mlir::StringAttr>(attribute);
        return given && given.getValue() == name;
      };
      for (llvm::StringRef name : llvm::reverse(names))
        if (is(sym::kGroupAttr, name) || is(sym::kNameAttr, name)) {
          op.setAttr(sym::kRecomputeAttr, builder.getStringAttr(name));
          found.insert(name);
        }
    }
    for (llvm::StringRef name : names)
      if (!found.contains(name))
        return sym::emitCoded(net, ErrorCode::E0402)
               << "no op is in ctx_group \"" << name
               << "\" or has that name, and it is to be recomputed";
    return mlir::success();
  }

  /// Declares parameters and carried states.
  void declare() {
    builder.setInsertionPoint(net);
    for (Operation &op : net.front()) {
      if (auto variable = llvm::dyn_cast<sym::VariableOp>(op))
        declareParameter(variable);
      else if (auto state = llvm::dyn_cast<sym::BeginStateOp>(op); state && carried(state))
        builder.create<sym::StateOp>(state.getLoc(), state.getNameAttr(),
                                     mlir::TypeAttr::get(state.getType()));
    }
  }

  bool hasLoss() {
    for (Value output : net.front().getTerminator()->getOperands())
      if (output.getDefiningOp<sym::LossHead>())
        return true;
    return false;
  }

  /// E0210 if an input of the net has the name of a scalar input of the entry.
  mlir::LogicalResult checkNames(const EntryKind &kind) {
    for (unsigned i = 0; i < net.getNumArguments() && takesScalars(kind); ++i)
      for (llvm::StringRef scalar : {kLearningRate, kUpdate, kSeed})
        if (auto name = net.getArgAttrOfType<mlir::StringAttr>(i, sym::kNameAttr);
            name && name.getValue() == scalar)
          return sym::emitCoded(net.getArgument(i).getLoc(), ErrorCode::E0210)
                 << "entry " << kind.name << " has an input \"" << scalar
                 << "\" of its own: give this one another name";
    return mlir::success();
  }

  void make(const EntryKind &kind) {
    builder.setInsertionPoint(net);
    auto entry = builder.create<mlir::func::FuncOp>(net.getLoc(), partName(kind.name, partOf(net)),
                                                    builder.getFunctionType({}, {}));
    if (std::optional<Share> share = shareOf(net))
      setShare(entry, partOf(net), replicaOf(net), *share);
    stateResults.clear();
    renewed.clear();
    if (kind.training)
      entry->setAttr(kTrainingAttr, builder.getUnitAttr());
    entry.addEntryBlock();
    builder.setInsertionPointToStart(&entry.front());

    mlir::IRMapping map;
    for (unsigned i = 0; i < net.getNumArguments(); ++i)
      map.map(net.getArgument(i), addArgument(entry, net.getArgument(i).getType(),
                                              net.getArgAttrDict(i), net.getArgument(i).getLoc()));
    if (takesScalars(kind))
      addScalars(entry, kind.training);
    setArgumentAttributes(entry);
    for (Operation &op : net.front().without_terminator())
      clone(op, map, entry, kind);
    for (auto [variable, value] : renewed)
      builder.create<sym::WriteOp>(value.getLoc(), variable.getName(), value, mlir::IntegerAttr());

    llvm::SmallVector<Value> results;
    llvm::SmallVector<mlir::DictionaryAttr> attributes;
    if (kind.training)
      sayDivisors(entry);
    if (kind.metrics)
      measure(entry, map, results, attributes, kind.training);
    else
      for (auto [i, output] : llvm::enumerate(net.front().getTerminator()->getOperands())) {
        results.push_back(map.lookup(output));
        mlir::NamedAttrList named(net.getResultAttrDict(i));
        named.set(sym::kRoleAttr, builder.getStringAttr("output"));
        attributes.push_back(named.getDictionary(builder.getContext()));
      }
    for (auto [name, value] : stateResults) {
      results.push_back(value);
      attributes.push_back(roleOf(name, "state"));
    }
    builder.create<mlir::func::ReturnOp>(net.getLoc(), results);
    dropDeadOps(entry);
    dropDeadArguments(entry, kind);
    entry.setFunctionType(builder.getFunctionType(entry.front().getArgumentTypes(),
                                                  mlir::ValueRange(results).getTypes()));
    entry.setAllResultAttrs(attributes);
  }

  /// For a replica: sets the maker of the whole net, which runs first. Row-wise measures are
  /// determined there, because a part may contain gathered rows that do not mix in the net.
  void setWhole(const Maker &maker) { whole = &maker; }

private:
  void declareParameter(sym::VariableOp variable) {
    auto parameter = builder.create<sym::ParameterOp>(
        variable.getLoc(), variable.getNameAttr(), mlir::TypeAttr::get(variable.getType()),
        builder.getI64IntegerAttr(ordinals.lookup(variable)));
    // One by one: variable->getAttrs() would stay in the context as a dictionary.
    mlir::NamedAttrList said(variable->getDiscardableAttrDictionary());
    for (mlir::StringAttr name : variable->getName().getAttributeNames())
      if (auto value = variable->getInherentAttr(name);
          name != variable.getNameAttrName() && value && *value)
        said.append(name, *value);
    parameter->setDiscardableAttrs(said.getDictionary(builder.getContext()));
  }

  bool carried(sym::BeginStateOp state) {
    return llvm::any_of(carry, [&](const std::string &pattern) {
      return matchesPattern(state.getName(), pattern) ||
             matchesPattern(state.getName().split("_begin_state").first, pattern);
    });
  }

  /// Dropout with mode "always" draws in every entry.
  bool dropsAlways() {
    bool found = false;
    net.walk([&](sym::DropoutOp op) { found |= op.getMode() == "always"; });
    return found;
  }

  bool takesScalars(const EntryKind &kind) { return kind.training || dropsAlways(); }

  Value addArgument(mlir::func::FuncOp entry, mlir::Type type, mlir::DictionaryAttr attributes,
                    mlir::Location loc) {
    Value argument = entry.front().addArgument(type, loc);
    arguments.push_back(attributes ? attributes : builder.getDictionaryAttr({}));
    return argument;
  }

  mlir::DictionaryAttr roleOf(llvm::StringRef name, llvm::StringRef role) {
    return builder.getDictionaryAttr(
        {builder.getNamedAttr(sym::kNameAttr, builder.getStringAttr(name)),
         builder.getNamedAttr(sym::kRoleAttr, builder.getStringAttr(role))});
  }

  /// Whether the net has f64 weights; rates are then f64 too.
  bool hasDoubleWeights() {
    return llvm::any_of(net.front().getOps<sym::VariableOp>(), [](sym::VariableOp variable) {
      return sym::rankedType(variable.getResult()).getElementType().isF64();
    });
  }

  void addScalars(mlir::func::FuncOp entry, bool training) {
    auto scalar = [&](llvm::StringRef name, mlir::Type type) {
      addArgument(entry, mlir::RankedTensorType::get({1}, type), roleOf(name, "scalar"),
                  net.getLoc());
    };
    if (training)
      scalar(kLearningRate, hasDoubleWeights() ? builder.getF64Type() : builder.getF32Type());
    scalar(kUpdate, builder.getI64Type());
    scalar(kSeed, builder.getI64Type());
  }

  void clone(Operation &op, mlir::IRMapping &map, mlir::func::FuncOp entry, const EntryKind &kind) {
    if (auto variable = llvm::dyn_cast<sym::VariableOp>(op)) {
      map.map(variable.getResult(),
              builder.create<sym::ReadOp>(op.getLoc(), variable.getType(), variable.getName(),
                                          mlir::IntegerAttr()));
    } else if (auto state = llvm::dyn_cast<sym::BeginStateOp>(op); state && carried(state)) {
      map.map(state.getResult(),
              shareOf(net)
                  ? addArgument(entry, state.getType(), roleOf(state.getName(), "state"),
                                state.getLoc())
                  : Value(builder.create<sym::ReadOp>(op.getLoc(), state.getType(), state.getName(),
                                                      mlir::IntegerAttr())));
    } else if (auto dropout = llvm::dyn_cast<sym::DropoutOp>(op)) {
      Value x = map.lookup(dropout.getData());
      bool drops =
          (kind.training || dropout.getMode() == "always") && dropout.getP().convertToDouble() > 0;
      map.map(dropout->getResult(0), drops ? dropOut(dropout, x, entry) : x);
    } else if (auto mode = llvm::dyn_cast<sym::ByModeOp>(op)) {
      map.map(mode.getValue(),
              map.lookup(kind.training ? mode.getTraining() : mode.getOtherwise()));
    } else if (auto average = llvm::dyn_cast<sym::MovingAverageOp>(op)) {
      if (kind.training)
        renew(average, map);
    } else {
      Operation *copy = builder.clone(op, map);
      if (auto head = llvm::dyn_cast<sym::LossHead>(copy)) {
        if (kind.training && (head.ignoresGradient() || returned(op)))
          copy->setAttr(sym::kHeadAttr, builder.getUnitAttr());
        else if (!kind.training && !kind.metrics)
          withoutLabel(op, head, map);
      }
      if (auto rnn = llvm::dyn_cast<sym::RnnOp>(op))
        writeStates(rnn, copy);
    }
  }

  /// The next value of an auxiliary state, written once after all ops that renew it. One that
  /// fix-parameters fixed keeps its value.
  void renew(sym::MovingAverageOp average, const mlir::IRMapping &map) {
    auto variable = average.getState().getDefiningOp<sym::VariableOp>();
    if (!variable || variable->hasAttr("auxiliary"))
      return;
    Value &state = renewed[variable];
    if (!state)
      state = map.lookup(average.getState());
    const double momentum = average.getMomentum().convertToDouble();
    const sym::Expression value{map.lookup(average.getValue()), &builder};
    state = (sym::Expression{state, &builder} * momentum + value * (1 - momentum)).value;
  }

  bool returned(Operation &op) {
    return llvm::any_of(op.getResult(0).getUsers(), [](Operation *user) {
      return user->hasTrait<mlir::OpTrait::IsTerminator>();
    });
  }

  /// A caller of `forward` provides no labels: a head whose value needs none is replaced by ops
  /// that read none.
  void withoutLabel(Operation &op, sym::LossHead head, mlir::IRMapping &map) {
    if (Value value = head.buildValue(builder)) {
      map.map(op.getResult(0), value);
      head->erase();
    }
  }

  /// `axes` are dimensions over which the mask is shared.
  Value dropOut(sym::DropoutOp dropout, Value x, mlir::func::FuncOp entry) {
    return createDropout(builder, dropout, entry, x, dropout.getP().convertToDouble(),
                         dropout->getAttrOfType<mlir::IntegerAttr>(sym::kOrdinalAttr).getInt(),
                         dropout.getAxes());
  }

  /// The final states of a layer are its begin states of the next call.
  void writeStates(sym::RnnOp rnn, Operation *copy) {
    llvm::SmallVector<Value> begins = {rnn.getState()};
    if (rnn.getStateCell())
      begins.push_back(rnn.getStateCell());
    for (auto [i, begin] : llvm::enumerate(begins)) {
      auto state = begin ? begin.getDefiningOp<sym::BeginStateOp>() : sym::BeginStateOp();
      if (!state || !carried(state) || copy->getNumResults() <= i + 1)
        continue;
      if (shareOf(net)) // the state is whole on one device, on which sync-parameters joins the rows
        stateResults.push_back({state.getName(), copy->getResult(i + 1)});
      else
        builder.create<sym::WriteOp>(rnn.getLoc(), state.getName(), copy->getResult(i + 1),
                                     mlir::IntegerAttr());
    }
  }

  /// Batch position of what a head measures. If its data have no rows, the position of the label,
  /// which a part of the batch uses too (RowMarks.h).
  static sym::BatchPosition rowsOf(sym::LossHead head, const BatchPositions &positions) {
    Value data = head->getOperand(0);
    sym::BatchPosition rows = positions.of(data);
    if (rows || head->getNumOperands() < 2)
      return rows;
    rows = positions.of(head->getOperand(1));
    auto shape = sym::rankedType(data).getShape();
    bool beside = rows && size_t(rows.axis) < shape.size() &&
                  shape[size_t(rows.axis)] == rows.outer * rows.batch * rows.inner;
    return beside ? rows : sym::BatchPosition::none();
  }

  /// Records the divisors, because later passes that split the batch cannot tell which heads return
  /// a scalar.
  void sayDivisors(mlir::func::FuncOp entry) {
    setArgumentAttributes(entry);
    BatchPositions positions(entry);
    entry.walk([&](sym::LossHead head) {
      if (head->hasAttr(sym::kHeadAttr))
        head->setAttr(sym::kHeadDivisorAttr,
                      builder.getI64IntegerAttr(headDivisor(head, positions, shareOf(entry))));
    });
  }

  void measure(mlir::func::FuncOp entry, mlir::IRMapping &map,
               llvm::SmallVectorImpl<Value> &results,
               llvm::SmallVectorImpl<mlir::DictionaryAttr> &attributes, bool training) {
    setArgumentAttributes(entry);
    BatchPositions positions(entry);
    MixingOps mixing(entry, positions);
    std::optional<Share> share = shareOf(entry);
    llvm::SmallPtrSet<Operation *, 4> measured; // a head that is returned twice is one loss
    for (auto [i, output] : llvm::enumerate(net.front().getTerminator()->getOperands())) {
      auto head = map.lookup(output).getDefiningOp<sym::LossHead>();
      if (!head || !measured.insert(head).second)
        continue;
      auto wholeOf = [&](Value value) { return wholeShape(value, positions, share); };
      sym::BatchPosition rows = rowsOf(head, positions);
      const sym::HeadMeasure by = {shards, rows, headDivisor(head, positions, share), wholeOf,
                                   training ? kMetricFields : kEvaluationFields};
      results.push_back(head.buildMetric(builder, by));
      auto metric = results.back().getDefiningOp<sym::ShardSum>();
      bool byShards = rows && int64_t(metric.getShards()) == shards;
      // A head that sums rows itself has no loss per row.
      bool ofRows =
          !training && byShards &&
          (whole ? whole->measuredByRows.contains(i) : !mixing.reach(head) && !mixing.has(head));
      if (ofRows) {
        measuredByRows.insert(i);
        results.back().setType(
            mlir::RankedTensorType::get({rows.batch, by.fields}, builder.getF64Type()));
      } else if (share && byShards && rows.batch == share->rows()) {
        sumPart(metric, *share);
      }
      auto name = llvm::dyn_cast_or_null<mlir::StringAttr>(net.getResultAttr(i, sym::kNameAttr));
      std::string prefix = name ? name.getValue().str() : "output";
      mlir::NamedAttrList named(roleOf(prefix + "_metric", "metric"));
      named.set(kMetricAttr, builder.getStringAttr(head.metricKind()));
      named.set(kClassesAttr, builder.getI64IntegerAttr(head.classCount()));
      Value said = scores && !training ? head.buildScores(builder, by) : Value();
      if (said)
        named.set(kScoresAttr, builder.getStringAttr(prefix + "_scores"));
      attributes.push_back(named.getDictionary(builder.getContext()));
      if (said) {
        results.push_back(said);
        attributes.push_back(roleOf(prefix + "_scores", "scores"));
      }
    }
  }

  void setArgumentAttributes(mlir::func::FuncOp entry) {
    entry.setFunctionType(builder.getFunctionType(entry.front().getArgumentTypes(), {}));
    entry.setAllArgAttrs(arguments);
  }

  void dropDeadOps(mlir::func::FuncOp entry) {
    llvm::SmallVector<Operation *> ops;
    for (Operation &op : entry.front().without_terminator())
      ops.push_back(&op);
    for (Operation *op : llvm::reverse(ops))
      if (op->use_empty() && !op->hasAttr(sym::kHeadAttr) && !llvm::isa<sym::WriteOp>(op))
        op->erase();
  }

  /// Removes inputs that an entry does not read, except data inputs, so that callers can identify a
  /// net's inputs.
  void dropDeadArguments(mlir::func::FuncOp entry, const EntryKind &kind) {
    llvm::BitVector dropped(entry.front().getNumArguments());
    llvm::SmallVector<mlir::DictionaryAttr> kept;
    for (unsigned i = 0; i < dropped.size(); ++i) {
      auto role = llvm::cast_or_null<mlir::StringAttr>(arguments[i].get(sym::kRoleAttr));
      bool keep =
          role && (role.getValue() == "data" || (role.getValue() == "scalar" && kind.training));
      if (keep || !entry.front().getArgument(i).use_empty())
        kept.push_back(arguments[i]);
      else
        dropped.set(i);
    }
    entry.front().eraseArguments(dropped);
    arguments = std::move(kept);
    setArgumentAttributes(entry);
    arguments.clear();
  }

  mlir::ModuleOp module;
  mlir::func::FuncOp net;
  int64_t shards;
  llvm::ArrayRef<std::string> carry;
  bool scores;
  mlir::OpBuilder builder;
  const Maker *whole = nullptr;
  llvm::MapVector<sym::VariableOp, Value> renewed; ///< auxiliary states of the entry
  llvm::DenseMap<Operation *, int64_t> ordinals;   ///< of variables
  llvm::SmallDenseSet<size_t> measuredByRows;      ///< outputs
  llvm::SmallVector<mlir::DictionaryAttr> arguments;
  llvm::SmallVector<std::pair<llvm::StringRef, Value>>
      stateResults; ///< of a replica: by the state's name
};

struct MakeEntries : impl::MakeEntriesBase<MakeEntries> {
  using MakeEntriesBase::MakeEntriesBase;

  void runOnOperation() override {
    auto nets = llvm::to_vector(getOperation().getOps<mlir::func::FuncOp>());
    // Replicas come after the net that they were split from.
    llvm::ArrayRef<mlir::func::FuncOp> replicas = llvm::ArrayRef(nets).drop_front();
    if (nets.empty() ||
        llvm::any_of(replicas, [](mlir::func::FuncOp net) { return !shareOf(net); })) {
      sym::emitCoded(getOperation(), ErrorCode::E0318)
          << "a module to compile has one net, found " << nets.size();
      return signalPassFailure();
    }
    llvm::SmallVector<std::string> patterns(carry.begin(), carry.end());
    llvm::SmallVector<Maker, 1> makers;
    for (mlir::func::FuncOp net : nets) {
      makers.push_back(Maker(getOperation(), net, shards, patterns, scores));
      makers.back().number(placed);
      if (failed(makers.back().recompute(
              llvm::SmallVector<std::string>(recompute.begin(), recompute.end()))))
        return signalPassFailure();
    }
    for (Maker &part : llvm::drop_begin(makers))
      part.setWhole(makers.front());
    makers.front().declare();
    bool loss = makers.front().hasLoss();
    for (const EntryKind &kind : kEntryKinds) {
      bool asked =
          entries.empty() ? (loss || !kind.metrics) : llvm::is_contained(entries, kind.name.str());
      if (!asked)
        continue;
      if (kind.metrics && !loss) {
        // A function created by a frontend has no location; its results have.
        Operation *end = nets.front().front().getTerminator();
        mlir::Location place =
            end->getNumOperands() > 0 ? end->getOperand(0).getLoc() : nets.front().getLoc();
        sym::emitCoded(place, ErrorCode::E0403)
            << "entry " << kind.name
            << " needs a loss among the outputs, and there is none: MakeLoss(x) makes one of any "
               "value, SoftmaxOutput and the regression outputs are losses";
        return signalPassFailure();
      }
      if (failed(makers.front().checkNames(kind)))
        return signalPassFailure();
      for (Maker &maker : makers)
        maker.make(kind);
    }
    for (mlir::func::FuncOp net : nets)
      net.erase();
  }
};

} // namespace
} // namespace lstmc::passes
