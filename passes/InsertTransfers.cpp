// insert-transfers: splits a function over all devices into one function per device, with transfers
// between them.

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

#include "ir/sym/Attributes.h"
#include "ir/sym/SymOps.h"
#include "passes/Passes.h"
#include "passes/Replica.h"
#include "passes/ShardTree.h"

namespace lstmc::passes {

#define GEN_PASS_DEF_INSERTTRANSFERS
#include "passes/Passes.h.inc"

namespace {

using mlir::Operation;
using mlir::Value;

class Cutter {
public:
  explicit Cutter(mlir::func::FuncOp entry) : entry(entry), builder(entry.getContext()) {
    parts[0] = entry;
  }

  void run() {
    auto ops = llvm::to_vector(llvm::make_pointer_range(entry.front().without_terminator()));
    bool several = false;
    for (Operation *op : ops) {
      auto said = op->getAttrOfType<mlir::IntegerAttr>(sym::kDeviceAttr);
      devices[op] = said ? said.getInt() : 0;
      several |= devices[op] != 0;
      if (said)
        op->removeAttr(sym::kDeviceAttr);
    }
    if (!several)
      return;
    for (Operation *op : ops) { // inputs are sent when they are first read, in that order
      int64_t device = devices.lookup(op);
      for (mlir::OpOperand &operand : op->getOpOperands())
        if (deviceOf(operand.get()) != device)
          operand.set(copyOn(device, operand.get()));
      op->moveBefore(partOn(device).front().getTerminator());
      for (Value result : op->getResults())
        giveAway(result);
    }
    for (mlir::OpOperand &operand : entry.front().getTerminator()->getOpOperands())
      if (deviceOf(operand.get()) != 0)
        operand.set(copyOn(0, operand.get()));
    number();
    for (auto [device, part] : parts)
      for (bool committed : {false, true})
        sendBeforeWaiting(part, committed);
  }

private:
  /// The function of a device. While it grows it ends with a return without operands.
  mlir::func::FuncOp partOn(int64_t device) {
    mlir::func::FuncOp &part = parts[device];
    if (!part) {
      builder.setInsertionPointAfter(std::prev(parts.find(device))->second);
      part = builder.create<mlir::func::FuncOp>(entry.getLoc(), partName(entry.getName(), device),
                                                builder.getFunctionType({}, {}));
      part->setAttr(sym::kDeviceAttr, builder.getI64IntegerAttr(device));
      builder.setInsertionPointToStart(part.addEntryBlock());
      builder.create<mlir::func::ReturnOp>(entry.getLoc());
    }
    return part;
  }

  int64_t deviceOf(Value value) const {
    Operation *op = value.getDefiningOp();
    return op ? devices.lookup(op) : 0;
  }

  /// Sends a value to each other device that reads it, as soon as it is computed. If it is only
  /// added up or written there, it is received right before that, because the other device has work
  /// to do first.
  void giveAway(Value value) {
    int64_t from = deviceOf(value);
    llvm::SmallVector<int64_t, 4> readers;
    for (Operation *user : value.getUsers()) {
      int64_t device = devices.lookup(user); // 0 for a return
      bool late = llvm::isa<sym::WriteOp>(user) || user->hasAttr(kAggregateAttr);
      if (device != from && !late && !llvm::is_contained(readers, device))
        readers.push_back(device);
    }
    llvm::sort(readers);
    for (int64_t device : readers)
      copyOn(device, value);
  }

  Value copyOn(int64_t device, Value value) {
    Value &copy = copies[{value, device}];
    return copy ? copy : copy = give(value, deviceOf(value), device);
  }

  Value give(Value value, int64_t from, int64_t to) {
    Operation *maker = value.getDefiningOp();
    Operation *end = partOn(to).front().getTerminator();
    builder.setInsertionPoint(end);
    if (maker && maker->getNumOperands() == 0 && maker->getNumResults() == 1 &&
        mlir::isPure(maker)) {
      Operation *made = builder.clone(*maker);
      devices[made] = to;
      return made->getResult(0);
    }
    auto receive =
        builder.create<sym::ReceiveOp>(value.getLoc(), value.getType(), uint64_t(from), 0);
    devices[receive] = to;
    builder.setInsertionPoint(partOn(from).front().getTerminator());
    auto send = builder.create<sym::SendOp>(value.getLoc(), value, uint64_t(to), 0);
    devices[send] = from;
    if (mlir::StringAttr name = nameOf(value)) {
      send->setAttr(sym::kNameAttr, name);
      receive->setAttr(sym::kNameAttr, name);
    }
    transfers.push_back({send, receive});
    return receive.getValue();
  }

  /// Name of the input or parameter that the value is, for messages; may be null.
  mlir::StringAttr nameOf(Value value) {
    if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(value))
      return entry.getArgAttrOfType<mlir::StringAttr>(argument.getArgNumber(), sym::kNameAttr);
    if (auto read = value.getDefiningOp<sym::ReadOp>())
      return read.getSourceAttr().getAttr();
    return {};
  }

  void number() {
    auto onlyAddedUp = [](sym::ReceiveOp receive) {
      return llvm::all_of(receive->getUsers(),
                          [](Operation *user) { return user->hasAttr(kAggregateAttr); });
    };
    int64_t message = 0;
    for (bool committed : {false, true})
      for (auto [send, receive] : transfers) {
        if (isOnlyWritten(receive) != committed)
          continue;
        if (onlyAddedUp(receive))
          addedUp.insert(send);
        send.setMessage(uint64_t(message));
        receive.setMessage(uint64_t(message++));
        if (committed) {
          send->setAttr(sym::kCommittedAttr, builder.getUnitAttr());
          commit(receive);
        }
      }
  }

  /// Whether the value is only written to parameters and states, directly or joined with others.
  static bool isOnlyWritten(Operation *op) {
    return llvm::all_of(op->getUsers(), [](Operation *user) {
      return llvm::isa<sym::WriteOp>(user) ||
             (llvm::isa<sym::ReshapeOp, sym::ConcatOp>(user) && isOnlyWritten(user));
    });
  }

  /// The value, and the ops that join it with others.
  void commit(Operation *op) {
    op->setAttr(sym::kCommittedAttr, builder.getUnitAttr());
    for (Operation *user : op->getUsers())
      if (!llvm::isa<sym::WriteOp>(user))
        commit(user);
  }

  /// Moves sends of values that are only added up or written elsewhere before the program waits for
  /// other devices, unless they depend on what it waits for; otherwise the owners of parameters
  /// would wait for one another in turn. Sends keep the order of their numbers.
  void sendBeforeWaiting(mlir::func::FuncOp part, bool committed) {
    llvm::SmallVector<sym::SendOp> sends;
    llvm::SmallVector<Operation *> receives; // in program order
    for (Operation &op : part.front()) {
      if (op.hasAttr(sym::kCommittedAttr) != committed)
        continue;
      if (auto send = llvm::dyn_cast<sym::SendOp>(op))
        sends.push_back(send);
      else if (llvm::isa<sym::ReceiveOp>(op))
        receives.push_back(&op);
    }
    Operation *last = nullptr; // the previous send
    for (sym::SendOp send : sends) {
      if (committed || addedUp.contains(send))
        hoist(send, last, receives);
      last = send;
    }
  }

  /// Whether an op belongs to the sum to send rather than to the net: an addition of parts, or an
  /// op that selects or joins elements.
  static bool preparesSending(Operation *op) {
    return op->hasAttr(kAggregateAttr) ||
           llvm::isa<sym::ReshapeOp, sym::SliceAxisOp, sym::ConcatOp>(op);
  }

  /// Moves a send, with the ops that prepare its value, before the first of `receives` that comes
  /// after all their other operands, and after `last`.
  static void hoist(sym::SendOp send, Operation *last, llvm::ArrayRef<Operation *> receives) {
    llvm::SetVector<Operation *> moved;
    moved.insert(send);
    Operation *after = last;
    for (size_t i = 0; i < moved.size(); ++i)
      for (Value operand : moved[i]->getOperands()) {
        Operation *maker = operand.getDefiningOp();
        if (maker && preparesSending(maker))
          moved.insert(maker);
        else if (maker && (!after || after->isBeforeInBlock(maker)))
          after = maker;
      }
    const auto *place = llvm::find_if(receives, [&](Operation *receive) {
      return (!after || after->isBeforeInBlock(receive)) && receive->isBeforeInBlock(send);
    });
    if (place == receives.end())
      return;
    llvm::SmallVector<Operation *> late(llvm::make_filter_range(
        moved, [&](Operation *op) { return (*place)->isBeforeInBlock(op); }));
    llvm::sort(late, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    for (Operation *op : late)
      op->moveBefore(*place);
  }

  mlir::func::FuncOp entry;
  mlir::OpBuilder builder;
  std::map<int64_t, mlir::func::FuncOp> parts; ///< by device
  llvm::DenseMap<Operation *, int64_t> devices;
  llvm::DenseMap<std::pair<Value, int64_t>, Value> copies; ///< looked up, never iterated
  llvm::SmallVector<std::pair<sym::SendOp, sym::ReceiveOp>> transfers;
  llvm::DenseSet<Operation *> addedUp; ///< sends of values that others only add up
};

struct InsertTransfers : impl::InsertTransfersBase<InsertTransfers> {
  void runOnOperation() override {
    for (auto entry : llvm::to_vector(getOperation().getOps<mlir::func::FuncOp>()))
      Cutter(entry).run();
  }
};

} // namespace
} // namespace lstmc::passes
