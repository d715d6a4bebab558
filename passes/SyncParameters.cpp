// sync-parameters: joins the parts of an entry to one function, in which every op has a device.

#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/Pass.h"

#include "ir/sym/Attributes.h"
#include "ir/sym/Create.h"
#include "ir/sym/Diagnose.h"
#include "ir/sym/SymOps.h"
#include "passes/Aggregator.h"
#include "passes/EntryMarks.h"
#include "passes/GradientCompression.h"
#include "passes/OperandSlices.h"
#include "passes/ParameterPlacement.h"
#include "passes/PartValues.h"
#include "passes/Passes.h"
#include "passes/PlacementListener.h"
#include "passes/Replica.h"
#include "passes/ShardTree.h"

namespace lstmc::passes {

#define GEN_PASS_DEF_SYNCPARAMETERS
#include "passes/Passes.h.inc"

namespace {

using mlir::Operation;
using mlir::Value;
using sym::BatchPosition;
using Role = PartValues::Role;

llvm::SmallVector<Operation *> opsOf(mlir::func::FuncOp part) {
  return llvm::to_vector(llvm::make_pointer_range(part.front().without_terminator()));
}

/// The functions of one entry, joined.
class Joiner {
public:
  /// `whole`: the entry over the whole batch, null if it has only one part.
  Joiner(mlir::func::FuncOp whole, llvm::ArrayRef<mlir::func::FuncOp> functions,
         const ParameterPlacement &placement, int64_t bucketBytes, GradientCompression *compression)
      : whole(whole), placement(placement), bucketBytes(bucketBytes), compression(compression),
        builder(mlir::func::FuncOp(functions.front()).getContext(), &listener) {
    for (mlir::func::FuncOp function : functions) {
      Part part{function, opsOf(function)};
      if (whole)
        part.share = *shareOf(function);
      parts.push_back(part);
    }
    if (whole)
      wholeOps = opsOf(whole);
  }

  mlir::LogicalResult run() {
    if (whole) {
      llvm::SmallVector<PartValues::Part> looked;
      for (Part &part : parts)
        looked.push_back({part.function, part.ops, part.share});
      values.emplace(whole, wholeOps, looked);
      if (failed(values->prove()))
        return mlir::failure();
      notePieces();
    }
    makeEntry();
    // The parts of a replica follow one another; replicas are interleaved op by op. All parts are
    // interleaved if an op waits for all of them.
    llvm::SmallVector<llvm::SmallVector<Part *>> rounds;
    llvm::DenseMap<int64_t, size_t> begun; ///< parts, by replica
    for (Part &part : parts) {
      size_t round = values && values->anyWaits() ? 0 : begun[replicaOf(part.function)]++;
      if (rounds.size() <= round)
        rounds.emplace_back();
      rounds[round].push_back(&part);
    }
    last = rounds.back().back();
    sums.resize(wholeOps.size());
    llvm::SmallVector<size_t> order = orderOfOps();
    for (auto &round : rounds)
      for (size_t i : order)
        for (Part *part : round)
          visit(*part, i);
    aggregator->makeAll();
    for (sym::GradientOp gradient : gradients)
      keepGradient(gradient);
    joinResults();
    return mlir::success();
  }

private:
  struct Part {
    mlir::func::FuncOp function;
    llvm::SmallVector<Operation *> ops; ///< the same ones in every part
    Share share = {};
  };
  bool isLast(const Part &part) const { return &part == last; }

  /// Batch position of a value of which a part holds a part; no axis for other values.
  BatchPosition rowsIn(Value wholeValue) const { return values->of(wholeValue).rows; }

  /// Records which slice of the whole a part's results are.
  void notePieces() {
    for (Part &part : parts)
      for (auto [own, op] : llvm::zip_equal(part.ops, wholeOps)) {
        llvm::SmallVector<int64_t> rows = {firstRow(part.share), part.share.rows(),
                                           part.share.batch};
        bool any = false;
        for (Value result : op->getResults()) {
          BatchPosition position = rowsIn(result);
          rows.append({position.axis, position.inner});
          any |= bool(position);
        }
        if (any)
          own->setAttr(kRowsAttr, builder.getDenseI64ArrayAttr(rows));
      }
  }

  /// Program order, except that in replicas of one device the sums over the batch come right after
  /// their operands, so that they are sent while the rest of backward runs. In replicas of several
  /// devices the next device waits for gradients more urgently.
  llvm::SmallVector<size_t> orderOfOps() {
    llvm::ArrayRef<Operation *> ops = parts.front().ops;
    llvm::DenseMap<Operation *, size_t> index;
    llvm::SmallVector<llvm::SmallVector<size_t>> after(ops.size());
    llvm::SmallVector<size_t> order;
    for (auto [i, op] : llvm::enumerate(ops)) {
      index[op] = i;
      size_t last = i;
      if (whole && placement.stages == 1 && sumsPart(op)) {
        last = 0;
        for (Value operand : op->getOperands())
          if (Operation *maker = operand.getDefiningOp())
            last = std::max(last, index.lookup(maker));
      }
      if (last < i)
        after[last].push_back(i);
    }
    llvm::DenseSet<size_t> moved;
    for (size_t i = 0; i < ops.size(); ++i) {
      if (!moved.contains(i))
        order.push_back(i);
      for (size_t sum : after[i]) {
        order.push_back(sum);
        moved.insert(sum);
      }
    }
    return order;
  }

  // ---- inputs ----

  /// Creates the function with whole arguments, and derives the arguments of the parts.
  void makeEntry() {
    mlir::func::FuncOp first = parts.front().function;
    builder.setInsertionPoint(whole ? whole : first);
    mlir::SymbolTable symbols(first->getParentOp());
    entry = builder.create<mlir::func::FuncOp>(first.getLoc(), entryOf(first),
                                               builder.getFunctionType({}, {}));
    if (first->hasAttr(kTrainingAttr))
      entry->setAttr(kTrainingAttr, builder.getUnitAttr());
    builder.setInsertionPointToStart(entry.addEntryBlock());
    aggregator.emplace(placement, bucketBytes, compression, listener, builder, entry.front());
    for (mlir::BlockArgument argument : first.getArguments()) {
      unsigned i = argument.getArgNumber();
      auto wholeType = first.getArgAttrOfType<mlir::TypeAttr>(i, sym::kWholeAttr);
      auto role = first.getArgAttrOfType<mlir::StringAttr>(i, sym::kRoleAttr);
      auto name = first.getArgAttrOfType<mlir::StringAttr>(i, sym::kNameAttr);
      mlir::Location loc = argument.getLoc();
      Value value;
      if (role && role.getValue() == "state") {
        auto state = symbols.lookup<sym::StateOp>(name);
        listener.set(placement.of(name.getValue()).front());
        value =
            builder.create<sym::ReadOp>(loc, state.getType(), name.getValue(), mlir::IntegerAttr());
      } else {
        value =
            entry.front().addArgument(wholeType ? wholeType.getValue() : argument.getType(), loc);
        mlir::NamedAttrList named(first.getArgAttrDict(i));
        named.erase(sym::kWholeAttr);
        attributes.push_back(named.getDictionary(builder.getContext()));
        listener.set(0);
      }
      if (whole)
        wholeValues.map(whole.getArgument(i), value);
      for (Part &part : parts) {
        mlir::BlockArgument own = part.function.getArgument(i);
        BatchPosition position = positionOfPart(value.getType(), own.getType(), part.share);
        if (own.use_empty())
          continue;
        own.replaceAllUsesWith(position ? sliceRows(builder, loc, value, position, part.share)
                                        : value);
      }
    }
  }

  // ---- ops on all parts ----

  void visit(Part &part, size_t i) {
    Operation *op = part.ops[i];
    if (!op)
      return; // runs on the whole batch
    // Sums may be built after their operands are added: from here on their only readers come after
    // everything else.
    if (auto gradient = llvm::dyn_cast<sym::GradientOp>(op))
      return isLast(part) ? gradients.push_back(gradient) : gradient.erase();
    if (auto write = llvm::dyn_cast<sym::WriteOp>(op))
      return keepWrite(part, write);
    Role role = values ? values->roleOf(i) : Role::Part;
    if ((role == Role::Last || (role == Role::Whole && values->waits(i))) && !isLast(part))
      return;
    aggregator->makeFor(op);
    if (role == Role::Whole)
      return doOnWhole(i);
    op->moveBefore(&entry.front(), entry.front().end());
    int64_t device = placement.deviceOf(part.function, op);
    // An op that reads a sum over all parts runs where the sum was built.
    for (Value operand : op->getOperands())
      if (auto there = aggregator->deviceOf(operand)) {
        device = *there;
        aggregator->follow(op, device);
      } else if (!aggregator->slicesOf(operand).empty()) {
        return aggregator->addSlices(op);
      }
    op->setAttr(sym::kDeviceAttr, builder.getI64IntegerAttr(device));
    listener.set(device);
    builder.setInsertionPointToEnd(&entry.front());
    if (auto read = llvm::dyn_cast<sym::ReadOp>(op))
      return readOnce(part, i, read);
    if (role == Role::Sum)
      addUp(part, i);
    else if (role == Role::Mask)
      drawOwnRows(part, i, llvm::cast<sym::DropoutMaskOp>(op));
    else if (role == Role::OwnRows)
      takeOwnRows(part, i);
  }

  /// The new value of an auxiliary state, which is one in all parts, is written to each copy; that
  /// of a carried state, which has one copy, there.
  void keepWrite(Part &part, sym::WriteOp write) {
    if (isLast(part)) {
      builder.setInsertionPointToEnd(&entry.front());
      for (int64_t device : placement.of(write.getTarget())) {
        listener.set(device);
        builder.create<sym::WriteOp>(write.getLoc(), write.getTarget(), write.getValue(),
                                     mlir::IntegerAttr());
      }
    }
    write.erase();
  }

  /// A parameter is read once per device, a state on the device that holds it.
  void readOnce(Part &part, size_t i, sym::ReadOp read) {
    llvm::ArrayRef<int64_t> has = placement.of(read.getSource());
    int64_t device = read->getAttrOfType<mlir::IntegerAttr>(sym::kDeviceAttr).getInt();
    if (!llvm::is_contained(has, device)) {
      device = has.front();
      read->setAttr(sym::kDeviceAttr, builder.getI64IntegerAttr(device));
    }
    Value &known = reads[{read.getSourceAttr(), device}];
    if (!known) {
      known = read.getValue();
      return;
    }
    read.getValue().replaceAllUsesWith(known);
    part.ops[i] = nullptr;
    read.erase();
  }

  /// Emits one gradient per parameter or slice, on the device of the sum; or one per copy.
  void keepGradient(sym::GradientOp gradient) {
    llvm::StringRef parameter = gradient.getParameter();
    llvm::ArrayRef<int64_t> copies = placement.of(parameter);
    builder.setInsertionPointToEnd(&entry.front());
    auto keep = [&](Value value, mlir::IntegerAttr from, int64_t device,
                    llvm::ArrayRef<int64_t> to) {
      listener.set(device);
      auto kept = builder.create<sym::GradientOp>(gradient.getLoc(), gradient.getParameterAttr(),
                                                  value, from);
      kept->setAttr(sym::kDevicesAttr, builder.getDenseI64ArrayAttr(to));
    };
    if (llvm::ArrayRef<Value> values = aggregator->slicesOf(gradient.getValue()); !values.empty())
      for (auto [value, slice] : llvm::zip_equal(values, placement.slicesOf(parameter)))
        keep(value, builder.getI64IntegerAttr(slice.first), slice.device, copies);
    else if (!placement.slicesOf(parameter).empty())
      for (const Slice &slice : placement.slicesOf(parameter)) {
        listener.set(slice.device);
        keep(sliceOf(builder, gradient.getLoc(), gradient.getValue(), slice),
             builder.getI64IntegerAttr(slice.first), slice.device, copies);
      }
    else if (placement.updateOnStore)
      keep(gradient.getValue(), {}, copies.front(), copies);
    else
      for (int64_t device : copies)
        keep(gradient.getValue(), {}, device, device);
    gradient.erase();
  }

  /// Runs an op once on the whole batch, instead of in each part: on the first part's device, on
  /// the rows of all.
  void doOnWhole(size_t i) {
    Operation *op = wholeOps[i];
    listener.set(placement.deviceOf(parts.front().function, parts.front().ops[i]));
    builder.setInsertionPointToEnd(&entry.front());
    for (mlir::OpOperand &operand : op->getOpOperands())
      findWhole(i, operand);
    cloneWhole(op);
    for (Part &part : parts) {
      for (auto [own, result] : llvm::zip_equal(part.ops[i]->getResults(), op->getResults())) {
        if (own.use_empty())
          continue;
        Value all = wholeValues.lookup(result);
        BatchPosition position = rowsIn(result);
        own.replaceAllUsesWith(
            position ? sliceRows(builder, own.getLoc(), all, position, part.share) : all);
      }
      part.ops[i]->erase();
      part.ops[i] = nullptr;
    }
  }

  /// Finds the whole-batch value of an operand: built already, equal to the first part's (for sums,
  /// the last part's), recomputed from inputs, or joined from the rows of all parts.
  void findWhole(size_t i, mlir::OpOperand &operand) {
    Value value = operand.get();
    auto ownOf = [&](Part &part) { return part.ops[i]->getOperand(operand.getOperandNumber()); };
    PartValue::Kind kind = values->of(value).kind;
    if (kind == PartValue::Alike || kind == PartValue::Sum)
      return wholeValues.map(value, ownOf(kind == PartValue::Sum ? *last : parts.front()));
    if (wholeValues.contains(value))
      return;
    if (values->isOfInputs(value))
      return makeAgain(value);
    llvm::SmallVector<Value> all;
    for (Part &part : parts)
      all.push_back(ownOf(part));
    wholeValues.map(value, joinRows(builder, value.getLoc(), all, value.getType(), rowsIn(value)));
  }

  /// Recomputes a value that depends on inputs alone for the whole batch; it waits for no part.
  void makeAgain(Value value) {
    for (llvm::SmallVector<Value> next = {value}; !next.empty();) {
      Operation *maker = next.back().getDefiningOp();
      if (wholeValues.contains(next.back())) {
        next.pop_back();
        continue;
      }
      size_t missing = next.size();
      for (Value operand : maker->getOperands())
        if (!wholeValues.contains(operand))
          next.push_back(operand);
      if (next.size() == missing)
        cloneWhole(maker);
    }
  }

  /// On the whole batch, all_rows and own_rows do nothing.
  void cloneWhole(Operation *op) {
    if (llvm::isa<sym::AllRowsOp, sym::OwnRowsOp>(op))
      wholeValues.map(op->getResult(0), wholeValues.lookup(op->getOperand(0)));
    else
      builder.clone(*op, wholeValues);
  }

  /// Extracts the rows of a part from a value that holds the whole batch.
  void takeOwnRows(Part &part, size_t i) {
    Operation *op = part.ops[i];
    Value all = op->getOperand(0);
    if (Value value = wholeOps[i]->getResult(0); !wholeValues.contains(value))
      wholeValues.map(value, all);
    op->getResult(0).replaceAllUsesWith(
        sliceRows(builder, op->getLoc(), all, rowsIn(wholeOps[i]->getResult(0)), part.share));
    op->erase();
    part.ops[i] = nullptr;
  }

  /// A sum over the batch: every part adds the maximal complete subtrees of its shards; after the
  /// last part, one device adds these.
  void addUp(Part &part, size_t i) {
    Operation *op = part.ops[i];
    llvm::SmallVector<Share> shares = subtreesOf(part.share);
    for (const Share &share : shares) {
      Operation *own = op;
      if (shares.size() > 1) {
        own = builder.clone(*op);
        takeSubtree(i, own, part, share);
      }
      sumPart(own, share);
      sums[i].push_back({share, own->getResult(0)});
    }
    if (isLast(part))
      aggregator->add(op, std::move(sums[i]));
  }

  /// Restricts operands that hold the rows of a part to the rows of a subtree.
  void takeSubtree(size_t i, Operation *sum, Part &part, const Share &subtree) {
    mlir::OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(sum);
    int64_t begin = firstRow(subtree) - firstRow(part.share);
    for (mlir::OpOperand &operand : sum->getOpOperands()) {
      BatchPosition position = rowsIn(wholeOps[i]->getOperand(operand.getOperandNumber()));
      position.batch = part.share.rows();
      Value rows =
          takeRows(builder, sum->getLoc(), operand.get(), position, begin, begin + subtree.rows());
      if (!llvm::isa<sym::WeightGradientOp, sym::BiasGradientOp>(sum)) {
        llvm::SmallVector<int64_t> shape(sym::rankedType(operand.get()).getShape());
        shape[size_t(position.axis)] = position.outer * subtree.rows() * position.inner;
        rows = sym::createReshape(builder, sum->getLoc(), rows, shape);
      }
      operand.set(rows);
    }
  }

  /// Random numbers belong to elements of the whole batch: sets the window of elements that a part
  /// of a mask draws.
  void drawOwnRows(Part &part, size_t i, sym::DropoutMaskOp mask) {
    auto whole = llvm::cast<sym::DropoutMaskOp>(wholeOps[i]);
    BatchPosition position = rowsIn(whole.getMask());
    auto type = sym::rankedType(whole.getMask());
    // Offset, extents and strides of the whole's mask (which may itself be a window of steps), with
    // the batch axis split.
    llvm::SmallVector<int64_t> window = {0};
    if (auto given = whole.getWindowAttr()) {
      window.assign(given.asArrayRef().begin(), given.asArrayRef().end());
    } else {
      int64_t stride = type.getNumElements();
      for (int64_t extent : type.getShape())
        window.append({extent, stride /= extent});
    }
    size_t axis = 1 + 2 * size_t(position.axis);
    int64_t inner = window[axis + 1], row = inner * position.inner, outer = row * position.batch;
    window[0] += firstRow(part.share) * row;
    window.erase(window.begin() + axis, window.begin() + axis + 2);
    int64_t opened[] = {position.outer, outer, part.share.rows(), row, position.inner, inner};
    window.insert(window.begin() + axis, std::begin(opened), std::end(opened));
    mask.setWindow(window);
  }

  // ---- outputs ----

  /// Outputs and states are concatenated from the parts; sums are complete already.
  void joinResults() {
    llvm::SmallVector<Value> results;
    llvm::SmallVector<mlir::DictionaryAttr> resultAttributes;
    builder.setInsertionPointToEnd(&entry.front());
    for (unsigned i = 0; i < last->function.getNumResults(); ++i) {
      mlir::DictionaryAttr named = last->function.getResultAttrDict(i);
      llvm::StringRef role = llvm::cast<mlir::StringAttr>(named.get(sym::kRoleAttr)).getValue();
      auto name = llvm::dyn_cast_or_null<mlir::StringAttr>(named.get(sym::kNameAttr));
      Value value = last->function.front().getTerminator()->getOperand(i);
      listener.set(role == "state" ? placement.of(name.getValue()).front() : 0);
      Value wholeValue = whole ? whole.front().getTerminator()->getOperand(i) : Value();
      if (BatchPosition position = whole ? rowsIn(wholeValue) : BatchPosition::none()) {
        llvm::SmallVector<Value> all;
        for (Part &part : parts)
          all.push_back(part.function.front().getTerminator()->getOperand(i));
        value = joinRows(builder, value.getLoc(), all, wholeValue.getType(), position);
      }
      if (role == "state") {
        builder.create<sym::WriteOp>(value.getLoc(), name.getValue(), value, mlir::IntegerAttr());
        continue;
      }
      results.push_back(value);
      resultAttributes.push_back(named);
    }
    builder.create<mlir::func::ReturnOp>(entry.getLoc(), results)->removeAttr(sym::kDeviceAttr);
    entry.setFunctionType(builder.getFunctionType(entry.front().getArgumentTypes(),
                                                  mlir::ValueRange(results).getTypes()));
    entry.setAllArgAttrs(attributes);
    entry.setAllResultAttrs(resultAttributes);
    for (Part &part : parts)
      part.function.erase();
    if (whole)
      whole.erase();
    llvm::SmallVector<Operation *> ops = opsOf(entry);
    for (Operation *op : llvm::reverse(ops))
      if (op->use_empty() && mlir::isPure(op) && !op->hasAttr(sym::kHeadAttr))
        op->erase();
  }

  mlir::func::FuncOp whole, entry;
  const ParameterPlacement &placement;
  const int64_t bucketBytes;
  GradientCompression *const compression; ///< null if compression is off
  PlacementListener listener{sym::kDeviceAttr};
  mlir::OpBuilder builder;
  std::optional<PartValues> values; ///< where there is a whole
  llvm::SmallVector<Operation *> wholeOps;
  llvm::SmallVector<Part> parts;
  Part *last = nullptr;        ///< visited last
  mlir::IRMapping wholeValues; ///< of the whole's, those that have been made
  llvm::SmallVector<mlir::DictionaryAttr> attributes;
  llvm::DenseMap<std::pair<mlir::Attribute, int64_t>, Value> reads; ///< by symbol and device
  llvm::SmallVector<Subtrees> sums; ///< what parts have summed so far, by op
  std::optional<Aggregator> aggregator;
  llvm::SmallVector<sym::GradientOp> gradients; ///< the last part's
};

struct SyncParameters : impl::SyncParametersBase<SyncParameters> {
  using SyncParametersBase::SyncParametersBase;

  void runOnOperation() override {
    mlir::ModuleOp module = getOperation();
    llvm::MapVector<llvm::StringRef, llvm::SmallVector<mlir::func::FuncOp>> entries;
    bool parts = false;
    for (auto part : module.getOps<mlir::func::FuncOp>()) {
      entries[entryOf(part)].push_back(part);
      parts |= bool(shareOf(part));
    }
    if (!parts && stages < 2)
      return;
    ParameterPlacement placement(module, stages, {local, updateOnStore, bigArrayBound});
    std::optional<GradientCompression> compression;
    if (threshold > 0)
      compression.emplace(module, threshold, workers);
    for (auto &[name, functions] : entries) {
      // The whole comes first.
      mlir::func::FuncOp whole = parts ? functions.front() : mlir::func::FuncOp();
      if (failed(Joiner(whole, llvm::ArrayRef(functions).drop_front(parts ? 1 : 0), placement,
                        bucketBytes, compression ? &*compression : nullptr)
                     .run()))
        return signalPassFailure();
    }
    makeInit(placement);
  }

private:
  /// Sends the value of each parameter to all copies.
  void makeInit(const ParameterPlacement &placement) {
    mlir::ModuleOp module = getOperation();
    PlacementListener listener(sym::kDeviceAttr);
    mlir::OpBuilder builder(&getContext(), &listener);
    mlir::func::FuncOp init;
    for (auto parameter : module.getOps<sym::ParameterOp>()) {
      llvm::ArrayRef<int64_t> copies = placement.of(parameter.getSymName());
      if (copies.size() < 2)
        continue;
      if (!init) {
        builder.setInsertionPointToEnd(module.getBody());
        init = builder.create<mlir::func::FuncOp>(module.getLoc(), "init",
                                                  builder.getFunctionType({}, {}));
        builder.setInsertionPointToStart(init.addEntryBlock());
        builder.create<mlir::func::ReturnOp>(module.getLoc());
      }
      builder.setInsertionPoint(init.front().getTerminator());
      listener.set(copies.front());
      Value value = builder.create<sym::ReadOp>(parameter.getLoc(), parameter.getType(),
                                                parameter.getSymName(), mlir::IntegerAttr());
      for (int64_t device : copies.drop_front()) {
        listener.set(device);
        builder.create<sym::WriteOp>(parameter.getLoc(), parameter.getSymName(), value,
                                     mlir::IntegerAttr());
      }
    }
  }
};

} // namespace
} // namespace lstmc::passes
