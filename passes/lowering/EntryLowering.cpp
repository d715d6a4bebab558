#include "passes/lowering/EntryLowering.h"

#include "llvm/ADT/SmallPtrSet.h"

#include "executor/abi/EntryNames.h"
#include "ir/sym/Attributes.h"
#include "ir/sym/Diagnose.h"
#include "passes/EntryMarks.h"
#include "passes/LaunchLocation.h"
#include "passes/Replica.h"
#include "passes/lowering/Parts.h"

namespace lstmc::passes {

using exec::Kind;
using mlir::Operation;
using mlir::Value;
using sym::View;

EntryLowering::EntryLowering(PlanBuilder &plan, mlir::func::FuncOp entry,
                             llvm::ArrayRef<std::string> devices, FastRules fast)
    : plan(plan), entry(entry), device(deviceOf(entry)), devices(devices), fast(fast),
      main(entry.getContext()), prepare(entry.getContext()), location(entry.getLoc()) {
  // The prepare program comes first; it is erased if it stays empty.
  prepareProgram =
      plan.program(std::string(kPreparePrefix) + entryOf(entry).str(), device, location);
  program = plan.program(entryOf(entry), device, location);
  main.setInsertionPointToEnd(&program.getBody().front());
  prepare.setInsertionPointToEnd(&prepareProgram.getBody().front());
}

mlir::LogicalResult EntryLowering::run() {
  llvm::SmallVector<Operation *> ops;
  for (Operation &op : entry.front().without_terminator())
    ops.push_back(&op);
  for (Operation *op : llvm::reverse(ops))
    if (mlir::isOpTriviallyDead(op))
      op->erase();
  if (failed(checkDevices()))
    return mlir::failure();
  for (auto write : entry.getOps<sym::WriteOp>())
    changing.insert(memoryOf(write.getTarget()));
  bindInputs();
  placeOutputs();
  findCommitted();
  placeDirectWrites();
  placeParts();
  for (Operation &op : entry.front().without_terminator())
    if (!committed.contains(&op) && !llvm::isa<sym::WriteOp>(op) && failed(lower(&op)))
      return mlir::failure();
  saveOverwritten();
  bindOutputs();
  if (!changing.empty() || !committed.empty()) {
    main.create<exec::CommitOp>(location);
    for (Operation &op : entry.front().without_terminator())
      if (committed.contains(&op) && failed(lower(&op)))
        return mlir::failure();
    writeBack();
  }
  if (prepareProgram.getBody().front().empty())
    prepareProgram.erase();
  return mlir::success();
}

/// E0402 at an op on another device than one of its operands: insert-transfers should have inserted
/// a transfer.
mlir::LogicalResult EntryLowering::checkDevices() {
  auto deviceOfOp = [&](Operation *op) {
    auto said = op ? op->getAttrOfType<mlir::IntegerAttr>(sym::kDeviceAttr) : mlir::IntegerAttr();
    return said ? said.getInt() : device;
  };
  for (Operation &op : entry.front().without_terminator()) {
    if (deviceOfOp(&op) == device)
      continue;
    for (Value operand : op.getOperands())
      if (int64_t there = deviceOfOp(operand.getDefiningOp()); there != deviceOfOp(&op))
        return sym::emitCoded(&op, ErrorCode::E0402)
               << op.getName().stripDialect() << " on device " << deviceOfOp(&op)
               << " reads what is on device " << there << ", and nothing sends it";
    return sym::emitCoded(&op, ErrorCode::E0402)
           << op.getName().stripDialect() << " is for device " << deviceOfOp(&op)
           << " and stands in the program of device " << device;
  }
  return mlir::success();
}

//===---- what comes in and goes out ----------------------------------------------------------===//

void EntryLowering::bindInputs() {
  for (mlir::BlockArgument argument : entry.getArguments()) {
    unsigned i = argument.getArgNumber();
    auto text = [&](llvm::StringRef key, llvm::StringRef otherwise) {
      auto found = entry.getArgAttrOfType<mlir::StringAttr>(i, key);
      return found ? found.getValue().str() : otherwise.str();
    };
    std::string role = text(sym::kRoleAttr, "data"),
                name = text(sym::kNameAttr, "arg" + std::to_string(i));
    auto dims = entry.getArgAttrOfType<mlir::ArrayAttr>(i, sym::kDimsAttr);
    Value memory = plan.input(role == "scalar" ? Kind::Scalar : Kind::Input, name,
                              tensorType(argument), device, argument.getLoc());
    main.create<exec::InputOp>(argument.getLoc(), memory, name, role,
                               dims ? dims : main.getStrArrayAttr({}));
    storage[argument] = whole(memory);
  }
}

void EntryLowering::placeOutputs() {
  for (Value value : entry.front().getTerminator()->getOperands())
    returned.insert(value);
}

/// Outputs without a buffer of their own are copied to one.
void EntryLowering::bindOutputs() {
  llvm::DenseSet<Value> bound;
  for (auto [i, value] : llvm::enumerate(entry.front().getTerminator()->getOperands())) {
    View view = storage.lookup(value);
    auto buffer = view.value.getDefiningOp<exec::BufferOp>();
    auto text = [&, index = unsigned(i)](llvm::StringRef key, llvm::StringRef otherwise) {
      auto found = entry.getResultAttrOfType<mlir::StringAttr>(index, key);
      return found ? found.getValue().str() : otherwise.str();
    };
    std::string name = text(sym::kNameAttr, "output" + std::to_string(i)),
                role = text(sym::kRoleAttr, "output");
    Value memory = view.value;
    if (buffer.getKind() != Kind::Output || !bound.insert(memory).second) {
      location = value.getLoc();
      memory = allocate(Kind::Output, name, view.shape, tensorType(value).getElementType());
      copy(view, whole(memory));
      bound.insert(memory);
    } else {
      buffer.setName(name);
    }
    auto dims = entry.getResultAttrOfType<mlir::ArrayAttr>(unsigned(i), sym::kDimsAttr);
    auto output = main.create<exec::OutputOp>(value.getLoc(), memory, name, role,
                                              dims ? dims : main.getStrArrayAttr({}));
    for (llvm::StringRef mark : {kMetricAttr, kClassesAttr, kScoresAttr})
      if (mlir::Attribute said = entry.getResultAttr(unsigned(i), mark))
        output->setAttr(mark.split('.').second, said);
  }
}

//===---- the commit --------------------------------------------------------------------------===//

/// Element-wise ops whose results are all only written, and transfers of such values.
void EntryLowering::findCommitted() {
  for (Operation &op : llvm::reverse(entry.front().without_terminator()))
    if (op.hasAttr(sym::kCommittedAttr))
      committed.insert(&op);
    else if ((!changing.empty() || !committed.empty()) && isElementwise(&op) &&
             op.getNumResults() > 0 && llvm::all_of(op.getUsers(), [&](Operation *user) {
               return llvm::isa<sym::WriteOp>(user) || committed.contains(user);
             }))
      committed.insert(&op);
}

/// Computes the result of a committed op directly in the memory that it is written to, if no later
/// committed op reads the old value, and the op itself reads it at most element for element.
void EntryLowering::placeDirectWrites() {
  llvm::DenseMap<Value, llvm::SmallVector<std::pair<View, Operation *>, 0>>
      readers; // of persistent memory
  llvm::DenseMap<Operation *, unsigned> order;
  auto readPlace = [&](Value value) -> View {
    auto read = value.getDefiningOp<sym::ReadOp>();
    return read ? placeOf(read.getSource(), read.getFirst(), read.getType()) : View();
  };
  auto overlap = [](const View &a, const View &b) {
    return a.value == b.value && a.offset < b.offset + b.elements() &&
           b.offset < a.offset + a.elements();
  };
  // A value that is not a plain read may be a view of one; then nothing is written in place.
  llvm::DenseSet<Value> viewed;
  for (Operation &op : entry.front().without_terminator()) {
    if (auto read = llvm::dyn_cast<sym::ReadOp>(op))
      for (Operation *user : read->getUsers())
        if (!isElementwise(user) && llvm::isa<sym::KernelRule>(user) &&
            llvm::any_of(user->getResults(), [&](Value result) {
              return llvm::any_of(result.getUsers(), [&](Operation *u) {
                return committed.contains(u) || llvm::isa<sym::WriteOp>(u);
              });
            }))
          viewed.insert(memoryOf(read.getSource()));
    if (!committed.contains(&op))
      continue;
    order.try_emplace(&op, unsigned(order.size()));
    for (Value operand : op.getOperands())
      if (View place = readPlace(operand))
        readers[place.value].push_back({place, &op});
  }
  for (auto write : entry.getOps<sym::WriteOp>()) {
    auto result = llvm::dyn_cast<mlir::OpResult>(write.getValue());
    View target = placeOf(write.getTarget(), write.getFirst(), write.getValue().getType());
    if (!result || !committed.contains(result.getOwner()) || places.contains(result) ||
        viewed.contains(target.value))
      continue;
    Operation *op = result.getOwner();
    bool readLater = llvm::any_of(readers[target.value], [&](const auto &reader) {
      return overlap(reader.first, target) && order.lookup(reader.second) > order.lookup(op);
    });
    bool sameElements = llvm::all_of(op->getOperands(), [&](Value operand) {
      View read = readPlace(operand);
      return !read || !overlap(read, target) ||
             (operand.getType() == result.getType() && read.offset == target.offset);
    });
    if (readLater || !sameElements)
      continue;
    places[result] = target;
    written.insert(write);
  }
}

/// A write of the value of another parameter or state, which may be overwritten before it is
/// copied.
void EntryLowering::saveOverwritten() {
  for (auto write : entry.getOps<sym::WriteOp>()) {
    auto found = storage.find(write.getValue());
    if (written.contains(write) || found == storage.end())
      continue;
    if (changing.contains(found->second.value) &&
        found->second.value != memoryOf(write.getTarget())) {
      location = write.getLoc();
      found->second = denseCopy(found->second);
    }
  }
}

/// The parameter whose value or slot is in the memory; empty for other memory.
static llvm::StringRef parameterOf(Value memory) {
  auto buffer = memory.getDefiningOp<exec::BufferOp>();
  if (auto owner = buffer->getAttrOfType<mlir::StringAttr>("parameter"))
    return owner.getValue();
  return buffer.getKind() == Kind::Parameter ? buffer.getName() : "";
}

/// Copies results that were not computed in place. Values of one shape share a launch, but the
/// values of different parameters do not, because a parameter may be updated alone
/// (session/SplitStep).
void EntryLowering::writeBack() {
  llvm::MapVector<std::pair<mlir::Type, llvm::StringRef>, std::vector<std::pair<View, View>>>
      groups;
  for (auto write : entry.getOps<sym::WriteOp>()) {
    if (written.contains(write))
      continue;
    location = write.getLoc();
    View from = storage.lookup(write.getValue()),
         to = placeOf(write.getTarget(), write.getFirst(), write.getValue().getType());
    if (from.value != to.value)
      groups[{tensorType(write.getValue()), parameterOf(to.value)}].push_back({from, to});
    else if (!from.dense() || from.shape != to.shape)
      copy(denseCopy(from), to);
  }
  for (auto &[key, copies] : groups)
    for (llvm::ArrayRef<std::pair<View, View>> left(copies); !left.empty();) {
      llvm::ArrayRef<std::pair<View, View>> now = left.take_front(kMaxFusedOperands / 4);
      left = left.drop_front(now.size());
      if (now.size() == 1)
        copy(now.front().first, now.front().second);
      else
        copyTogether(now, llvm::cast<mlir::RankedTensorType>(key.first).getElementType());
    }
}

/// A fused program without operations.
void EntryLowering::copyTogether(llvm::ArrayRef<std::pair<View, View>> copies, mlir::Type element) {
  mlir::Block body;
  llvm::SmallVector<View, 0> views;
  for (const auto &[from, to] : copies) {
    body.addArgument(sym::computeType(element), location);
    views.push_back(from);
  }
  for (const auto &[from, to] : copies)
    views.push_back(to);
  mlir::OpBuilder builder(entry.getContext());
  builder.setInsertionPointToEnd(&body);
  builder.create<sym::YieldOp>(location, body.getArguments());
  llvm::SmallVector<mlir::Type> types(copies.size(), element);
  launch(FusedArguments{.program = plan.fused().idOf(body, types, types), .window = {}}, views);
}

/// Computes results that an op only places side by side (concat, stack) directly in the op's
/// result, at most once per op. Not possible for returned values, and for values computed from
/// another part of the same result; nor for values written by several launches that leave gaps
/// which other values fill after it was read, because plans treat a view as all bytes from its
/// first to its last element.
void EntryLowering::placeParts() {
  for (Operation &op : llvm::reverse(entry.front().without_terminator())) {
    if (committed.contains(&op) || !llvm::isa<sym::KernelRule>(op))
      continue;
    std::optional<Parts> parts = partsOf(&op);
    if (!parts || places.contains(op.getResult(0)) ||
        llvm::all_of(op.getOperands(), [](Value operand) {
          return !operand.getDefiningOp() || llvm::isa<sym::ReadOp>(operand.getDefiningOp());
        }))
      continue;
    llvm::SmallDenseMap<Value, View, 8> windows; // of those that can be made in place
    llvm::SmallPtrSet<Operation *, 8> makers;
    for (auto &[part, window] : *parts) {
      Operation *maker = part.getDefiningOp();
      if (maker && !window.dense() && !part.hasOneUse() && !isElementwise(maker) &&
          !madeAtOnce(part))
        continue;
      if (maker && !llvm::isa<sym::ReadOp>(maker) && !committed.contains(maker) &&
          !returned.contains(part) && !places.contains(part) && makers.insert(maker).second)
        windows[part] = window;
    }
    location = launchLocation(&op);
    for (auto &[part, unused] : *parts) {
      auto window = windows.find(part);
      if (window == windows.end() ||
          llvm::any_of(part.getDefiningOp()->getOperands(),
                       [&](Value operand) { return windows.contains(operand); }))
        continue;
      View place = window->second;
      place.value = view(op.getResult(0)).value;
      places[part] = place;
    }
  }
}

} // namespace lstmc::passes
