// sync-parameters: what replicas have to tell one another. The first device holds what persists, all inputs and all outputs.

#include "mlir/Pass/Pass.h"

#include "ir/sym/Attributes.h"
#include "ir/sym/Create.h"
#include "ir/sym/Diagnose.h"
#include "ir/sym/SymOps.h"
#include "passes/BatchPositions.h"
#include "passes/Passes.h"
#include "passes/Replica.h"

namespace lstmc::passes {

#define GEN_PASS_DEF_SYNCPARAMETERS
#include "passes/Passes.h.inc"

namespace {

using mlir::Operation;
using mlir::Value;
using sym::BatchPosition;

/// The maximal complete subtrees of the tree over `share.shards` leaves that lie in a share, as shares; those without rows left out.
llvm::SmallVector<Share> subtreesOf(const Share &share) {
  llvm::SmallVector<Share> subtrees;
  for (int64_t first = share.first, end = share.first + share.count; first < end;) {
    int64_t size = 1;
    while (first % (2 * size) == 0 && first + 2 * size <= end)
      size *= 2;
    Share subtree{share.batch, share.shards, first, size};
    if (subtree.rows() > 0)
      subtrees.push_back(subtree);
    first += size;
  }
  return subtrees;
}

/// Adds subtrees, in ascending order, as the tree over all shards does: a binary counter (base/Tree.h).
class TreeOfValues {
public:
  TreeOfValues(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}

  /// A complete subtree of `size` shards from `first` on.
  void add(int64_t first, int64_t size, Value sum) {
    skipTo(first);
    push(size, sum);
  }
  Value finish(int64_t shards) {
    skipTo(shards);
    Value root;
    for (auto &[level, value] : llvm::reverse(stack))
      root = join(value, root);
    return root;
  }

private:
  /// Shards without rows.
  void skipTo(int64_t shard) {
    while (count < shard)
      push(1, {});
  }
  void push(int64_t size, Value value) {
    for (; !stack.empty() && stack.back().first == size; size *= 2)
      value = join(stack.pop_back_val().second, value);
    stack.push_back({size, value});
    count = 0;
    for (auto &[width, unused] : stack)
      count += width;
  }
  Value join(Value left, Value right) {
    if (!left || !right)
      return left ? left : right;
    return builder.create<sym::ElemwiseAddOp>(loc, left.getType(), left, right);
  }

  mlir::OpBuilder &builder;
  mlir::Location loc;
  llvm::SmallVector<std::pair<int64_t, Value>> stack; ///< widths, descending
  int64_t count = 0;
};

/// Who reads a value now, to be given another one later.
llvm::SmallVector<mlir::OpOperand *> usesOf(Value value) {
  llvm::SmallVector<mlir::OpOperand *> uses;
  for (mlir::OpOperand &use : value.getUses())
    uses.push_back(&use);
  return uses;
}

void redirect(llvm::ArrayRef<mlir::OpOperand *> uses, Value to) {
  for (mlir::OpOperand *use : uses)
    use->set(to);
}

/// The functions of one entry, by device.
class Synchroniser {
public:
  Synchroniser(mlir::MLIRContext *context, mlir::func::FuncOp whole, llvm::ArrayRef<mlir::func::FuncOp> parts)
      : builder(context), positions(whole), wholeOps(opsOf(whole)) {
    for (mlir::func::FuncOp part : parts)
      replicas.push_back({part, *shareOf(part), opsOf(part)});
  }

  mlir::LogicalResult run() {
    Replica &host = replicas.front();
    for (Replica &replica : replicas)
      if (replica.ops.size() != wholeOps.size())
        return sym::emitCoded(host.part, ErrorCode::E0402) << "replicas of entry " << entryOf(host.part) << " differ";
    if (failed(checkRows()))
      return mlir::failure();
    findPositions();
    giveArguments();
    giveParameters();
    for (size_t i = 0; i < host.ops.size(); ++i)
      visit(i);
    joinResults();
    return mlir::success();
  }

private:
  struct Replica {
    mlir::func::FuncOp part;
    Share share;
    llvm::SmallVector<Operation *> ops; ///< as they were: the same ones in every replica
    llvm::DenseMap<Value, BatchPosition> positions = llvm::DenseMap<Value, BatchPosition>();
  };

  static llvm::SmallVector<Operation *> opsOf(mlir::func::FuncOp part) {
    return llvm::to_vector(llvm::make_pointer_range(part.front()));
  }

  /// Where the rows are is the same in the parts as in the whole.
  void findPositions() {
    for (Replica &replica : replicas)
      for (auto [own, op] : llvm::zip_equal(replica.ops, wholeOps))
        for (auto [part, whole] : llvm::zip_equal(own->getResults(), op->getResults()))
          if (BatchPosition position = positions.of(whole)) {
            position.batch = replica.share.rows();
            replica.positions[part] = position;
          }
  }

  /// E0402 at an op that mixes rows of the batch, whose result on a part of them would be another.
  mlir::LogicalResult checkRows() {
    for (Operation *op : wholeOps) {
      bool rows = llvm::any_of(op->getOperands(), [&](Value v) { return bool(positions.of(v)); });
      if (!rows || sumsPart(op) || op->hasTrait<mlir::OpTrait::IsTerminator>() ||
          llvm::isa<sym::GradientOp>(op))
        continue;
      for (Value result : op->getResults())
        if (!positions.of(result) && !result.use_empty())
          return sym::emitCoded(op, ErrorCode::E0402)
                 << op->getName().stripDialect() << " mixes the rows of the batch, which are on " << replicas.size()
                 << " devices: compile it for one";
    }
    return mlir::success();
  }

  // ---- transfers ----

  /// `name`: of the input, state or parameter that it is about, for messages; may be null.
  void send(Value value, Replica &to, int64_t message, mlir::StringAttr name = {}) {
    auto op = builder.create<sym::SendOp>(value.getLoc(), value, uint64_t(deviceOf(to.part)), uint64_t(message));
    if (name)
      op->setAttr(sym::kNameAttr, name);
  }
  Value receive(mlir::Location loc, mlir::Type type, Replica &from, int64_t message, mlir::StringAttr name = {}) {
    auto op = builder.create<sym::ReceiveOp>(loc, type, uint64_t(deviceOf(from.part)), uint64_t(message));
    if (name)
      op->setAttr(sym::kNameAttr, name);
    return op;
  }

  // ---- what comes in ----

  /// The host's program takes inputs and states whole, and gives every replica its rows.
  void giveArguments() {
    Replica &host = replicas.front();
    llvm::SmallVector<std::optional<int64_t>> given(host.part.getNumArguments()); ///< the first message of each
    for (unsigned i = 0; i < given.size(); ++i) {
      mlir::BlockArgument argument = host.part.getArgument(i);
      mlir::Location loc = argument.getLoc();
      auto wholeType = host.part.getArgAttrOfType<mlir::TypeAttr>(i, sym::kWholeAttr);
      auto name = host.part.getArgAttrOfType<mlir::StringAttr>(i, sym::kNameAttr);
      auto role = host.part.getArgAttrOfType<mlir::StringAttr>(i, sym::kRoleAttr);
      bool isState = role && role.getValue() == "state";
      mlir::Type part = argument.getType(), whole = wholeType ? wholeType.getValue() : part;
      llvm::SmallVector<mlir::OpOperand *> uses = usesOf(argument);
      behindGiven();
      Value value = argument;
      if (isState) {
        whole = mlir::SymbolTable::lookupNearestSymbolFrom<sym::StateOp>(host.part, name).getType();
        value = builder.create<sym::ReadOp>(loc, whole, name.getValue());
      } else {
        argument.setType(whole);
      }
      BatchPosition position = positionOfPart(whole, part, host.share);
      redirect(uses, position ? sliceRows(builder, loc, value, position, host.share) : value);
      if (uses.empty()) // the learning rate is for the optimizer
        continue;
      given[i] = message;
      for (Replica &replica : llvm::drop_begin(replicas))
        send(position ? sliceRows(builder, loc, value, position, replica.share) : value, replica, message++, name);
      noteGiven();
    }
    // The others' arguments become what they receive, in the same order.
    for (auto [r, replica] : llvm::enumerate(llvm::drop_begin(replicas))) {
      builder.setInsertionPointToStart(&replica.part.front());
      for (auto [argument, first] : llvm::zip_equal(replica.part.getArguments(), given)) {
        auto name = replica.part.getArgAttrOfType<mlir::StringAttr>(argument.getArgNumber(), sym::kNameAttr);
        if (first)
          argument.replaceAllUsesWith(receive(argument.getLoc(), argument.getType(), host, *first + int64_t(r), name));
      }
      replica.part.front().eraseArguments(0, replica.part.getNumArguments());
      lastReceived.push_back(builder.getInsertionPoint() == replica.part.front().begin() ? nullptr : &*std::prev(builder.getInsertionPoint()));
    }
    dropStateArguments(host);
  }

  /// What the host gives stands in front of all else, in the order of messages.
  void behindGiven() {
    mlir::Block &block = replicas.front().part.front();
    lastGiven ? builder.setInsertionPointAfter(lastGiven) : builder.setInsertionPointToStart(&block);
  }
  void noteGiven() {
    if (builder.getInsertionPoint() != builder.getBlock()->begin())
      lastGiven = &*std::prev(builder.getInsertionPoint());
  }

  void dropStateArguments(Replica &host) {
    llvm::SmallVector<mlir::DictionaryAttr> attributes;
    for (unsigned i = 0; i < host.part.getNumArguments(); ++i) {
      mlir::NamedAttrList named(host.part.getArgAttrDict(i));
      named.erase(sym::kWholeAttr);
      attributes.push_back(named.getDictionary(builder.getContext()));
    }
    for (unsigned i = host.part.front().getNumArguments(); i-- > 0;) {
      auto role = llvm::dyn_cast_or_null<mlir::StringAttr>(attributes[i].get(sym::kRoleAttr));
      if (role && role.getValue() == "state") {
        host.part.front().eraseArgument(i);
        attributes.erase(attributes.begin() + i);
      }
    }
    hostArguments = attributes;
  }

  /// Parameters are read on the host and sent. A program that changes them sends what they were.
  void giveParameters() {
    Replica &host = replicas.front();
    for (size_t i = 0; i < host.ops.size(); ++i) {
      auto read = llvm::dyn_cast<sym::ReadOp>(host.ops[i]);
      if (!read)
        continue;
      behindGiven();
      read->moveBefore(builder.getBlock(), builder.getInsertionPoint());
      builder.setInsertionPointAfter(read);
      for (Replica &replica : llvm::drop_begin(replicas))
        send(read.getValue(), replica, message++, read.getSourceAttr().getAttr());
      noteGiven();
      for (auto [r, replica] : llvm::enumerate(llvm::drop_begin(replicas))) {
        auto own = llvm::cast<sym::ReadOp>(replica.ops[i]);
        if (lastReceived[r])
          builder.setInsertionPointAfter(lastReceived[r]);
        else
          builder.setInsertionPointToStart(&replica.part.front());
        Value value = receive(own.getLoc(), own.getValue().getType(), host, message - int64_t(replicas.size()) + 1 + int64_t(r),
                              own.getSourceAttr().getAttr());
        lastReceived[r] = value.getDefiningOp();
        own.getValue().replaceAllUsesWith(value);
        own.erase();
        replica.ops[i] = nullptr;
      }
    }
  }

  // ---- what is done together ----

  /// Op `i` of all replicas.
  void visit(size_t i) {
    Operation *op = replicas.front().ops[i];
    if (sumsPart(op)) {
      addUp(i);
    } else if (llvm::isa<sym::DropoutMaskOp>(op)) {
      for (Replica &replica : replicas)
        drawWhole(llvm::cast<sym::DropoutMaskOp>(replica.ops[i]), replica);
    } else if (auto gradient = llvm::dyn_cast<sym::SoftmaxOutputGradientOp>(op)) {
      if (gradient.getNormalization() == "valid")
        countTogether(i);
      else if (gradient.getNormalization() == "batch")
        divideByWhole(i);
    } else if (llvm::isa<sym::GradientOp>(op)) {
      for (Replica &replica : llvm::drop_begin(replicas)) {
        replica.ops[i]->erase();
        replica.ops[i] = nullptr;
      }
    }
  }

  /// A sum over the batch: every replica adds the maximal complete subtrees of its shards, the host adds these.
  void addUp(size_t i) {
    Replica &host = replicas.front();
    struct Subtree {
      Share share;
      Value sum;
      Replica *where;
    };
    llvm::SmallVector<mlir::OpOperand *> readers = usesOf(host.ops[i]->getResult(0));
    llvm::SmallVector<Subtree> subtrees;
    for (Replica &replica : replicas) {
      Operation *op = replica.ops[i];
      builder.setInsertionPointAfter(op);
      llvm::SmallVector<Share> shares = subtreesOf(replica.share);
      for (const Share &share : shares) {
        Operation *part = op;
        if (shares.size() > 1) {
          part = builder.clone(*op);
          takeOwnRows(part, replica, share);
        }
        sumPart(part, share);
        subtrees.push_back({share, part->getResult(0), &replica});
      }
    }
    // Sends stand behind the last of a replica's sums, receives behind the host's.
    mlir::Location loc = host.ops[i]->getLoc();
    llvm::SmallDenseMap<Replica *, Operation *> place;
    for (const Subtree &subtree : subtrees)
      place[subtree.where] = subtree.sum.getDefiningOp();
    for (Subtree &subtree : subtrees) {
      if (subtree.where == &host)
        continue;
      builder.setInsertionPointAfter(place[subtree.where]);
      send(subtree.sum, host, message);
      place[subtree.where] = &*std::prev(builder.getInsertionPoint());
      builder.setInsertionPointAfter(place[&host]);
      subtree.sum = receive(loc, subtree.sum.getType(), *subtree.where, message++);
      place[&host] = subtree.sum.getDefiningOp();
    }
    builder.setInsertionPointAfter(place[&host]);
    TreeOfValues tree(builder, loc);
    for (const Subtree &subtree : subtrees)
      tree.add(subtree.share.first, subtree.share.count, subtree.sum);
    redirect(readers, tree.finish(host.share.shards));
  }

  /// Operands that hold the rows of a replica, cut to those of a subtree.
  void takeOwnRows(Operation *sum, Replica &replica, const Share &subtree) {
    mlir::OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(sum);
    int64_t begin = firstRow(subtree) - firstRow(replica.share);
    for (mlir::OpOperand &operand : sum->getOpOperands()) {
      BatchPosition position = replica.positions.lookup(operand.get());
      if (!position) // the begin state of a layer, [B, K]
        position = {0, 1, replica.share.rows(), 1};
      Value rows = takeRows(builder, sum->getLoc(), operand.get(), position, begin, begin + subtree.rows());
      if (!llvm::isa<sym::WeightGradientOp, sym::BiasGradientOp>(sum)) {
        llvm::SmallVector<int64_t> shape(sym::rankedType(operand.get()).getShape());
        shape[size_t(position.axis)] = position.outer * subtree.rows() * position.inner;
        rows = sym::createReshape(builder, sum->getLoc(), rows, shape);
      }
      operand.set(rows);
    }
  }

  /// Random numbers belong to elements of the whole batch: the mask is drawn for all rows, and each replica keeps its own.
  void drawWhole(sym::DropoutMaskOp mask, Replica &replica) {
    BatchPosition position;
    for (Operation *user : mask->getUsers())
      for (Value result : user->getResults())
        if (!position && sym::rankedType(result).getRank() == sym::rankedType(mask.getMask()).getRank())
          position = replica.positions.lookup(result);
    auto type = sym::rankedType(mask.getMask());
    if (!position || type.getDimSize(position.axis) != position.outer * position.batch * position.inner)
      return; // shared by the rows
    llvm::SmallVector<int64_t> shape(type.getShape());
    shape[size_t(position.axis)] = position.outer * replica.share.batch * position.inner;
    llvm::SmallVector<mlir::OpOperand *> uses = usesOf(mask.getMask());
    builder.setInsertionPointAfter(mask);
    mask.getMask().setType(type.clone(shape));
    redirect(uses, sliceRows(builder, mask.getLoc(), mask.getMask(), position, replica.share));
  }

  /// What SoftmaxOutput divides by is counted over all replicas.
  void countTogether(size_t i) {
    Replica &host = replicas.front();
    auto f64 = mlir::RankedTensorType::get({1}, builder.getF64Type());
    llvm::SmallVector<Value> counts;
    for (Replica &replica : replicas) {
      auto op = llvm::cast<sym::SoftmaxOutputGradientOp>(replica.ops[i]);
      builder.setInsertionPoint(op);
      counts.push_back(builder.create<sym::ValidCountOp>(op.getLoc(), f64, op.getLabel(), op.getIgnoreLabelAttr()));
    }
    mlir::Location loc = host.ops[i]->getLoc();
    Value all = counts.front();
    for (size_t r = 1; r < replicas.size(); ++r) {
      builder.setInsertionPoint(replicas[r].ops[i]);
      send(counts[r], host, message);
      builder.setInsertionPoint(host.ops[i]);
      Value other = receive(loc, f64, replicas[r], message++);
      all = builder.create<sym::ElemwiseAddOp>(loc, f64, all, other);
    }
    for (size_t r = 1; r < replicas.size(); ++r) {
      builder.setInsertionPoint(host.ops[i]);
      send(all, replicas[r], message);
      builder.setInsertionPoint(replicas[r].ops[i]);
      divideBy(replicas[r], i, receive(loc, f64, host, message++));
    }
    divideBy(host, i, all);
  }

  void divideByWhole(size_t i) {
    for (Replica &replica : replicas) {
      auto op = llvm::cast<sym::SoftmaxOutputGradientOp>(replica.ops[i]);
      BatchPosition position = replica.positions.lookup(op.getP());
      int64_t rows = sym::rankedType(op.getP()).getDimSize(0);
      if (position && position.axis == 0)
        rows = position.outer * replica.share.batch * position.inner;
      builder.setInsertionPoint(op);
      auto f64 = mlir::RankedTensorType::get({1}, builder.getF64Type());
      divideBy(replica, i, builder.create<sym::FullOp>(op.getLoc(), f64, builder.getDenseI64ArrayAttr({1}),
                                                       builder.getF64FloatAttr(double(rows)), builder.getStringAttr(""),
                                                       builder.getStringAttr("float64")));
    }
  }

  void divideBy(Replica &replica, size_t i, Value count) {
    llvm::cast<sym::SoftmaxOutputGradientOp>(replica.ops[i]).getValidMutable().assign(count);
  }

  // ---- what goes out ----

  /// Outputs and states are joined on the host; sums are there already. Behind everything, so that messages ascend.
  void joinResults() {
    Replica &host = replicas.front();
    auto hostReturn = llvm::cast<mlir::func::ReturnOp>(host.part.front().getTerminator());
    llvm::SmallVector<Value> results;
    llvm::SmallVector<mlir::DictionaryAttr> attributes;
    for (unsigned i = 0; i < hostReturn.getNumOperands(); ++i) {
      mlir::DictionaryAttr named = host.part.getResultAttrDict(i);
      auto role = llvm::cast<mlir::StringAttr>(named.get(sym::kRoleAttr));
      Value own = hostReturn.getOperand(i);
      if (role.getValue() != "metric") {
        BatchPosition position = host.positions.lookup(own);
        mlir::Type whole = own.getType();
        if (position) {
          llvm::SmallVector<int64_t> shape(sym::rankedType(own).getShape());
          shape[size_t(position.axis)] = position.outer * host.share.batch * position.inner;
          whole = sym::rankedType(own).clone(shape);
          llvm::SmallVector<Value> parts = {own};
          for (Replica &replica : llvm::drop_begin(replicas)) {
            Value part = replica.part.front().getTerminator()->getOperand(i);
            builder.setInsertionPoint(replica.part.front().getTerminator());
            send(part, host, message);
            builder.setInsertionPoint(hostReturn);
            parts.push_back(receive(own.getLoc(), part.getType(), replica, message++));
          }
          builder.setInsertionPoint(hostReturn);
          own = joinRows(builder, own.getLoc(), parts, whole, position);
        }
        if (role.getValue() == "state") {
          builder.setInsertionPoint(hostReturn);
          builder.create<sym::WriteOp>(own.getLoc(), llvm::cast<mlir::StringAttr>(named.get(sym::kNameAttr)).getValue(), own);
          continue;
        }
      }
      results.push_back(own);
      attributes.push_back(named);
    }
    hostReturn->setOperands(results);
    setFunctionType(host.part, hostArguments, attributes);
    for (Replica &replica : llvm::drop_begin(replicas)) {
      replica.part.front().getTerminator()->setOperands({});
      setFunctionType(replica.part, {}, {});
    }
    for (Replica &replica : replicas)
      dropDead(replica.part);
  }

  static void setFunctionType(mlir::func::FuncOp part, llvm::ArrayRef<mlir::DictionaryAttr> arguments,
                              llvm::ArrayRef<mlir::DictionaryAttr> results) {
    part.removeArgAttrsAttr();
    part.removeResAttrsAttr();
    part.setFunctionType(mlir::FunctionType::get(part.getContext(), part.front().getArgumentTypes(),
                                                 part.front().getTerminator()->getOperandTypes()));
    part.setAllArgAttrs(arguments);
    part.setAllResultAttrs(results);
  }

  static void dropDead(mlir::func::FuncOp part) {
    auto ops = llvm::to_vector(llvm::make_pointer_range(part.front().without_terminator()));
    for (Operation *op : llvm::reverse(ops))
      if (op->use_empty() && mlir::isPure(op) && !op->hasAttr("sym.head"))
        op->erase();
  }

  mlir::OpBuilder builder;
  BatchPositions positions; ///< of the values of the whole
  llvm::SmallVector<Operation *> wholeOps;
  llvm::SmallVector<Replica> replicas;
  llvm::SmallVector<Operation *> lastReceived; ///< per replica but the host
  Operation *lastGiven = nullptr;
  llvm::SmallVector<mlir::DictionaryAttr> hostArguments;
  int64_t message = 0;
};

struct SyncParameters : impl::SyncParametersBase<SyncParameters> {
  void runOnOperation() override {
    llvm::MapVector<llvm::StringRef, llvm::SmallVector<mlir::func::FuncOp>> entries; // the whole stands first
    for (auto part : getOperation().getOps<mlir::func::FuncOp>())
      if (shareOf(part))
        entries[entryOf(part)].push_back(part);
    for (auto &[entry, parts] : entries) {
      if (failed(Synchroniser(&getContext(), parts.front(), llvm::ArrayRef(parts).drop_front()).run()))
        return signalPassFailure();
      parts.front().erase();
    }
  }
};

} // namespace
} // namespace lstmc::passes
