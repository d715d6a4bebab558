#include "passes/lowering/EntryLowering.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"

#include "executor/abi/Packing.h"
#include "ir/sym/Attributes.h"
#include "ir/sym/Diagnose.h"
#include "ir/sym/OpTable.h"
#include "passes/Pieces.h"
#include "passes/Replica.h"

namespace lstmc::passes {

using exec::Kind;
using mlir::Operation;
using mlir::Value;
using sym::View;

namespace {

/// What a computation may grow by when it is kept between calls.
constexpr int64_t kKeptBytes = 64 << 10;

mlir::RankedTensorType tensorType(Value value) { return llvm::cast<mlir::RankedTensorType>(value.getType()); }

int64_t bytesOf(mlir::RankedTensorType type) {
  return type.getNumElements() * int64_t(dtypeBytes(exec::dtypeOf(type.getElementType())));
}

bool isElementwise(Operation *op) { return llvm::isa<sym::ScalarRule, sym::FusedOp>(op); }

/// What plans and messages call a result.
std::string nameOf(Value value) {
  auto result = llvm::cast<mlir::OpResult>(value);
  Operation *op = result.getOwner();
  std::string name;
  if (auto given = op->getAttrOfType<mlir::StringAttr>(sym::kNameAttr))
    name = given.str();
  else
    name = op->getName().stripDialect().str();
  if (op->getNumResults() > 1) {
    std::string part = std::to_string(result.getResultNumber());
    if (auto named = llvm::dyn_cast<mlir::OpAsmOpInterface>(op))
      named.getAsmResultNames([&](Value which, llvm::StringRef text) {
        if (which == value)
          part = text.str();
      });
    name += "." + part;
  }
  return name;
}

/// The place in the source, with "OP NAME" around it for PackageBuilder.
mlir::Location launchLocation(Operation *op) {
  const sym::OpRecord *record = sym::recordOf(op->getName());
  std::string text = record && !record->mxnetName.empty() ? std::string(record->mxnetName) : op->getName().stripDialect().str();
  if (auto name = op->getAttrOfType<mlir::StringAttr>(sym::kNameAttr))
    text += " " + name.str();
  return mlir::NameLoc::get(mlir::StringAttr::get(op->getContext(), text), op->getLoc());
}

/// Looks on while an op says its launches: does it only copy its operands, whole, into windows of its result?
class PartsProbe : public sym::KernelBuilder {
public:
  static std::optional<PartsProbe> of(Operation *op) {
    if (op->getNumResults() != 1 || op->getNumOperands() < 2)
      return std::nullopt;
    int64_t elements = 0;
    for (Value operand : op->getOperands())
      elements += tensorType(operand).getNumElements();
    if (elements != tensorType(op->getResult(0)).getNumElements())
      return std::nullopt;
    PartsProbe probe(op->getResult(0));
    if (failed(llvm::cast<sym::KernelRule>(op).emitKernels(probe)) || !probe.sideBySide ||
        probe.windows.size() != op->getNumOperands())
      return std::nullopt;
    return probe;
  }

  std::vector<std::pair<Value, View>> windows; ///< operands, and where in the result they go

private:
  explicit PartsProbe(Value result) : result(result) {}

  View view(Value value) override {
    View view;
    view.value = value;
    view.shape.assign(tensorType(value).getShape().begin(), tensorType(value).getShape().end());
    view.strides = exec::denseStrides(view.shape);
    view.dtype = exec::dtypeOf(tensorType(value).getElementType());
    return view;
  }
  void launch(KernelId kernel, llvm::ArrayRef<View> operands, llvm::ArrayRef<int64_t>, llvm::ArrayRef<double>) override {
    sideBySide &= kernel == KernelId::Copy && operands[1].value == result && operands[0].value != result &&
                  operands[0].dense() && operands[0].elements() == tensorType(operands[0].value).getNumElements() &&
                  llvm::ArrayRef<int64_t>(operands[0].shape) == tensorType(operands[0].value).getShape() &&
                  llvm::none_of(windows, [&](const auto &window) { return window.first == operands[0].value; });
    windows.push_back({operands[0].value, operands[1]});
  }
  View temporary(llvm::ArrayRef<int64_t>, DType) override { return other(); }
  View scratch(int64_t) override { return other(); }
  View denseCopy(View view) override { return sideBySide = false, view; }
  View output(View target, llvm::ArrayRef<int64_t> shape) override {
    sideBySide = false;
    return target.dense() ? target.reshape(shape) : target;
  }
  View packed(View weight, int64_t) override { return sideBySide = false, weight; }
  void alias(Value, View) override { sideBySide = false; }
  View other() { return sideBySide = false, view(result); }

  Value result;
  bool sideBySide = true;
};

} // namespace

EntryLowering::EntryLowering(PlanBuilder &plan, mlir::func::FuncOp entry)
    : plan(plan), entry(entry), device(deviceOf(entry)), main(entry.getContext()), prepare(entry.getContext()), location(entry.getLoc()) {
  // The prepare program comes first, and goes again if nothing is put there.
  prepareProgram = plan.program("prepare:" + entryOf(entry).str(), device, location);
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

/// E0402 at an op of another device than one of its operands: insert-transfers would have brought it over.
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
        return sym::emitCoded(&op, ErrorCode::E0402) << op.getName().stripDialect() << " on device " << deviceOfOp(&op)
                                                     << " reads what is on device " << there << ", and nothing sends it";
    return sym::emitCoded(&op, ErrorCode::E0402) << op.getName().stripDialect() << " is for device " << deviceOfOp(&op)
                                                 << " and stands in the program of device " << device;
  }
  return mlir::success();
}

//===---- what comes in and goes out ---------------------------------------------------------------===//

void EntryLowering::bindInputs() {
  for (mlir::BlockArgument argument : entry.getArguments()) {
    unsigned i = argument.getArgNumber();
    auto text = [&](llvm::StringRef key, llvm::StringRef otherwise) {
      auto found = entry.getArgAttrOfType<mlir::StringAttr>(i, key);
      return found ? found.getValue().str() : otherwise.str();
    };
    std::string role = text("sym.role", "data"), name = text("sym.name", "arg" + std::to_string(i));
    auto dims = entry.getArgAttrOfType<mlir::ArrayAttr>(i, "sym.dims");
    Value memory = plan.input(role == "scalar" ? Kind::Scalar : Kind::Input, name, tensorType(argument), device, argument.getLoc());
    main.create<exec::InputOp>(argument.getLoc(), memory, name, role, dims ? dims : main.getStrArrayAttr({}));
    storage[argument] = whole(memory);
  }
}

void EntryLowering::placeOutputs() {
  for (Value value : entry.front().getTerminator()->getOperands())
    returned.insert(value);
}

/// Outputs that are not in a buffer of their own are copied to one.
void EntryLowering::bindOutputs() {
  llvm::DenseSet<Value> bound;
  for (auto [i, value] : llvm::enumerate(entry.front().getTerminator()->getOperands())) {
    View view = storage.lookup(value);
    auto buffer = view.value.getDefiningOp<exec::BufferOp>();
    auto text = [&, index = unsigned(i)](llvm::StringRef key, llvm::StringRef otherwise) {
      auto found = entry.getResultAttrOfType<mlir::StringAttr>(index, key);
      return found ? found.getValue().str() : otherwise.str();
    };
    std::string name = text("sym.name", "output" + std::to_string(i)), role = text("sym.role", "output");
    Value memory = view.value;
    if (buffer.getKind() != Kind::Output || !bound.insert(memory).second) {
      location = value.getLoc();
      memory = allocate(Kind::Output, name, view.shape, tensorType(value).getElementType());
      copy(view, whole(memory));
      bound.insert(memory);
    } else {
      buffer.setName(name);
    }
    auto dims = entry.getResultAttrOfType<mlir::ArrayAttr>(unsigned(i), "sym.dims");
    auto output = main.create<exec::OutputOp>(value.getLoc(), memory, name, role, dims ? dims : main.getStrArrayAttr({}));
    if (auto metric = entry.getResultAttrOfType<mlir::StringAttr>(unsigned(i), "sym.metric"))
      output->setAttr("metric", metric);
  }
}

//===---- the commit -------------------------------------------------------------------------------===//

/// Element-wise ops all of whose results end in writes, and transfers of such values.
void EntryLowering::findCommitted() {
  for (Operation &op : llvm::reverse(entry.front().without_terminator()))
    if (op.hasAttr(sym::kCommittedAttr))
      committed.insert(&op);
    else if ((!changing.empty() || !committed.empty()) && isElementwise(&op) && op.getNumResults() > 0 && llvm::all_of(op.getUsers(), [&](Operation *user) {
          return llvm::isa<sym::WriteOp>(user) || committed.contains(user);
        }))
      committed.insert(&op);
}

/// A committed op's result is made right where it is written to, if no committed op behind it reads the old value, and the op
/// itself does so element for element at most.
void EntryLowering::placeDirectWrites() {
  llvm::DenseMap<Value, llvm::SmallVector<std::pair<View, Operation *>, 2>> readers; // of persistent memory
  llvm::DenseMap<Operation *, unsigned> order;
  auto readPlace = [&](Value value) -> View {
    auto read = value.getDefiningOp<sym::ReadOp>();
    return read ? placeOf(read.getSource(), read.getFirst(), read.getType()) : View();
  };
  auto overlap = [](const View &a, const View &b) {
    return a.value == b.value && a.offset < b.offset + b.elements() && b.offset < a.offset + a.elements();
  };
  // A value that is no plain read may be a view of what is read; then nothing is written in place.
  llvm::DenseSet<Value> viewed;
  for (Operation &op : entry.front().without_terminator()) {
    if (auto read = llvm::dyn_cast<sym::ReadOp>(op))
      for (Operation *user : read->getUsers())
        if (!isElementwise(user) && llvm::isa<sym::KernelRule>(user) &&
            llvm::any_of(user->getResults(), [&](Value result) {
              return llvm::any_of(result.getUsers(), [&](Operation *u) { return committed.contains(u) || llvm::isa<sym::WriteOp>(u); });
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
    if (!result || !committed.contains(result.getOwner()) || places.contains(result) || viewed.contains(target.value))
      continue;
    Operation *op = result.getOwner();
    bool readLater = llvm::any_of(readers[target.value], [&](const auto &reader) {
      return overlap(reader.first, target) && order.lookup(reader.second) > order.lookup(op);
    });
    bool sameElements = llvm::all_of(op->getOperands(), [&](Value operand) {
      View read = readPlace(operand);
      return !read || !overlap(read, target) || (operand.getType() == result.getType() && read.offset == target.offset);
    });
    if (readLater || !sameElements)
      continue;
    places[result] = target;
    written.insert(write);
  }
}

/// A write of what another parameter or state holds: it may be overwritten before it is copied.
void EntryLowering::saveOverwritten() {
  for (auto write : entry.getOps<sym::WriteOp>()) {
    auto found = storage.find(write.getValue());
    if (written.contains(write) || found == storage.end())
      continue;
    if (changing.contains(found->second.value) && found->second.value != memoryOf(write.getTarget())) {
      location = write.getLoc();
      found->second = denseCopy(found->second);
    }
  }
}

/// Copies what was not made in place. Values of one shape go in one launch.
void EntryLowering::writeBack() {
  llvm::MapVector<mlir::Type, std::vector<std::pair<View, View>>> groups;
  for (auto write : entry.getOps<sym::WriteOp>()) {
    if (written.contains(write))
      continue;
    location = write.getLoc();
    View from = storage.lookup(write.getValue()), to = placeOf(write.getTarget(), write.getFirst(), write.getValue().getType());
    if (from.value != to.value)
      groups[tensorType(write.getValue())].push_back({from, to});
    else if (!from.dense() || from.shape != to.shape)
      copy(denseCopy(from), to);
  }
  for (auto &[type, copies] : groups)
    for (llvm::ArrayRef<std::pair<View, View>> left(copies); !left.empty();) {
      llvm::ArrayRef<std::pair<View, View>> now = left.take_front(kMaxFusedOperands / 4);
      left = left.drop_front(now.size());
      if (now.size() == 1)
        copy(now.front().first, now.front().second);
      else
        copyTogether(now, llvm::cast<mlir::RankedTensorType>(type).getElementType());
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
  launch(KernelId::Fused, views, {plan.fused().idOf(body, types, types)}, {});
}

//===---- ops --------------------------------------------------------------------------------------===//

mlir::LogicalResult EntryLowering::lower(Operation *op) {
  location = launchLocation(op);
  current = op;
  if (auto read = llvm::dyn_cast<sym::ReadOp>(op)) {
    Value memory = memoryOf(read.getSource());
    storage[read.getValue()] = placeOf(read.getSource(), read.getFirst(), read.getType());
    Kind kind = memory.getDefiningOp<exec::BufferOp>().getKind();
    if (!changing.contains(memory) && (kind == Kind::Parameter || kind == Kind::Auxiliary))
      constant.insert(memory);
    return mlir::success();
  }
  preparing = dependsOnParametersAlone(op);
  mlir::LogicalResult result = mlir::success();
  if (isElementwise(op))
    result = lowerElementwise(op);
  else if (auto rule = llvm::dyn_cast<sym::KernelRule>(op))
    result = rule.emitKernels(*this);
  else
    return sym::emitCoded(op, ErrorCode::E0402) << "nothing lowers " << op->getName().stripDialect();
  for (auto [from, to] : pendingCopies)
    copy(from, to);
  pendingCopies.clear();
  preparing = false;
  current = nullptr;
  return result;
}

bool EntryLowering::dependsOnParametersAlone(Operation *op) {
  if (op->getNumOperands() == 0 || op->getNumResults() == 0 || committed.contains(op))
    return false;
  int64_t before = kKeptBytes, after = 0;
  for (Value operand : op->getOperands()) {
    if (!constant.contains(storage.lookup(operand).value))
      return false;
    before += bytesOf(tensorType(operand));
  }
  for (Value result : op->getResults()) {
    if (returned.contains(result) || places.contains(result) || storage.contains(result))
      return false;
    after += bytesOf(tensorType(result));
  }
  return after <= before;
}

mlir::LogicalResult EntryLowering::lowerElementwise(Operation *op) {
  mlir::Block single;
  mlir::Block *body = &single;
  if (auto fused = llvm::dyn_cast<sym::FusedOp>(op)) {
    body = &fused.getBody().front();
  } else {
    for (Value operand : op->getOperands())
      single.addArgument(sym::computeType(tensorType(operand).getElementType()), location);
    mlir::OpBuilder builder(op->getContext());
    builder.setInsertionPointToEnd(&single);
    Value value = llvm::cast<sym::ScalarRule>(op).emitScalar(builder, single.getArguments());
    builder.create<sym::YieldOp>(location, mlir::ValueRange{value});
  }
  FusedSize size = measureBody(*body);
  if (!size.withinLimits())
    return sym::emitCoded(op, ErrorCode::E0402) << "a fused program of " << size.instructions << " operations with "
                                                << size.live << " values at once is too large";
  launchFused(op, *body);
  return mlir::success();
}

/// Operands over the shape of the results; operands that the body does not read, and repeated ones, are left out.
void EntryLowering::launchFused(Operation *op, mlir::Block &body) {
  llvm::ArrayRef<int64_t> shape = tensorType(op->getResult(0)).getShape();
  int64_t elements = tensorType(op->getResult(0)).getNumElements();
  llvm::SmallVector<View, 0> views;
  llvm::SmallVector<mlir::Type> inputs, outputs;
  llvm::SmallDenseMap<Value, unsigned> seen;
  llvm::BitVector dropped(body.getNumArguments());
  for (auto [operand, argument] : llvm::zip_equal(op->getOperands(), body.getArguments())) {
    auto [at, isNew] = seen.try_emplace(operand, unsigned(views.size()));
    if (argument.use_empty() || !isNew) {
      if (!argument.use_empty())
        argument.replaceAllUsesWith(body.getArgument(unsigned(at->second)));
      dropped.set(argument.getArgNumber());
      if (isNew)
        seen.erase(at);
      continue;
    }
    at->second = argument.getArgNumber();
    View view = this->view(operand);
    if (view.elements() == elements)
      view = reshaped(view, shape);
    else
      view = view.broadcastTo(shape);
    views.push_back(view);
    inputs.push_back(tensorType(operand).getElementType());
  }
  body.eraseArguments(dropped);
  for (Value result : op->getResults()) {
    views.push_back(view(result));
    outputs.push_back(tensorType(result).getElementType());
  }
  llvm::SmallVector<int64_t> ints = {plan.fused().idOf(body, inputs, outputs)};
  if (mlir::DenseI64ArrayAttr window = windowOf(op))
    llvm::append_range(ints, window.asArrayRef());
  launch(KernelId::Fused, views, ints, {});
}

//===---- memory -----------------------------------------------------------------------------------===//

View EntryLowering::whole(Value memory) const {
  auto type = llvm::cast<mlir::MemRefType>(memory.getType());
  View view;
  view.value = memory;
  view.shape.assign(type.getShape().begin(), type.getShape().end());
  view.strides = exec::denseStrides(type.getShape());
  view.dtype = exec::dtypeOf(type.getElementType());
  return view;
}

View EntryLowering::placeOf(llvm::StringRef symbol, std::optional<uint64_t> first, mlir::Type tensor) const {
  View all = whole(memoryOf(symbol));
  if (!first)
    return all;
  return all.reshape(all.elements()).slice(0, int64_t(*first), llvm::cast<mlir::RankedTensorType>(tensor).getNumElements());
}

/// Buffers that only one program needs are that program's; what main reads of prepare is the plan's.
Value EntryLowering::allocate(Kind kind, llvm::StringRef name, llvm::ArrayRef<int64_t> shape, mlir::Type element) {
  return createBuffer(target(), kind, name, device, shape, element, location);
}

Value EntryLowering::allocateResult(Value value) {
  mlir::RankedTensorType type = tensorType(value);
  if (preparing) {
    Value memory = plan.persistent(Kind::Packed, nameOf(value), device, type.getShape(), type.getElementType(), location);
    constant.insert(memory);
    return memory;
  }
  Kind kind = returned.contains(value)                               ? Kind::Output
              : value.getDefiningOp()->hasAttr(sym::kGradientOfAttr) ? Kind::Gradient
                                                                     : Kind::Activation;
  return allocate(kind, nameOf(value), type.getShape(), type.getElementType());
}

View EntryLowering::view(Value value) {
  auto found = storage.find(value);
  if (found != storage.end())
    return found->second;
  auto placed = places.find(value);
  View view = placed != places.end() ? placed->second : whole(allocateResult(value));
  storage[value] = view;
  return view;
}

View EntryLowering::temporary(llvm::ArrayRef<int64_t> shape, DType dtype) {
  std::string name = current ? current->getName().stripDialect().str() + ".temporary" : "temporary";
  return whole(allocate(Kind::Workspace, name, shape, exec::typeOf(dtype, entry.getContext())));
}

View EntryLowering::scratch(int64_t bytes) {
  std::string name = current->getName().stripDialect().str() + ".scratch";
  return whole(allocate(Kind::Workspace, name, {bytes}, exec::typeOf(DType::U8, entry.getContext())));
}

View EntryLowering::denseCopy(View view) {
  // A copy made in one program is no use to the other.
  Value &memory = copies.find(view, preparing ? -2 : -1);
  if (!memory) {
    View dense = temporary(view.shape, view.dtype);
    memory = dense.value;
    copy(view, dense);
  }
  return whole(memory);
}

View EntryLowering::output(View wanted, llvm::ArrayRef<int64_t> shape) {
  std::optional<View> same = wanted.tryReshape(shape);
  if (same && same->isRows())
    return *same;
  View dense = temporary(shape, wanted.dtype);
  pendingCopies.push_back({dense.reshape(wanted.shape), wanted});
  return dense;
}

View EntryLowering::packed(View weight, int64_t gates) {
  if (weight.rank() == 2)
    weight = weight.broadcastTo({1, weight.shape[0], weight.shape[1]});
  bool kept = constant.contains(weight.value);
  // What is made again for backward packs again: until then, what forward packed would have to be kept.
  int64_t use = current && current->hasAttr(sym::kRecomputeAttr) ? -3 - gates : gates;
  Value &memory = kept ? plan.prepared().find(weight, gates) : copies.find(weight, use);
  bool isNew = !memory;
  auto source = weight.value.getDefiningOp<exec::BufferOp>();
  if (isNew) {
    int64_t elements = weight.shape[0] * packedElements(weight.shape[1], weight.shape[2], gates);
    mlir::Type element = exec::typeOf(weight.dtype, entry.getContext());
    std::string name = source.getName().str() + ".packed";
    memory = kept ? plan.persistent(Kind::Packed, name, device, {elements}, element, source.getLoc())
                  : allocate(Kind::Workspace, name, {elements}, element);
  }
  View result = whole(memory);
  // Every entry that reads a packed weight has its launch in its own prepare program; `copies` knows which are there.
  Value &here = copies.find(weight, use);
  if (kept ? !here : isNew) {
    here = memory;
    bool before = std::exchange(preparing, kept);
    launch(KernelId::Pack, {weight, result}, {gates}, {});
    preparing = before;
  }
  return result;
}

void EntryLowering::launch(KernelId kernel, llvm::ArrayRef<View> operands, llvm::ArrayRef<int64_t> ints,
                           llvm::ArrayRef<double> floats) {
  if (kernel == KernelId::Copy && operands[0].value == operands[1].value && operands[0].offset == operands[1].offset &&
      operands[0].shape == operands[1].shape && operands[0].strides == operands[1].strides)
    return; // made in its place
  llvm::SmallVector<int64_t> list, pieces;
  llvm::SmallVector<Value> buffers;
  for (auto [number, operand] : llvm::enumerate(operands)) {
    appendPieceOf(operand, number, pieces);
    exec::OperandView view;
    if (operand) {
      buffers.push_back(operand.value);
      view.buffer = operand.value;
      view.whole = operand.offset == 0 && operand.dense() &&
                   llvm::ArrayRef<int64_t>(operand.shape) == llvm::cast<mlir::MemRefType>(operand.value.getType()).getShape();
      view.offset = operand.offset;
      view.shape = operand.shape;
      view.strides = operand.strides;
      // Strides of extents of 1 say nothing; they are as a dense walk would have them.
      for (size_t axis = view.shape.size(); axis-- > 0;)
        if (view.shape[axis] == 1)
          view.strides[axis] = axis + 1 < view.shape.size() ? view.strides[axis + 1] * view.shape[axis + 1] : 1;
    }
    exec::encodeView(view, list);
  }
  auto made = target().create<exec::LaunchOp>(location, kernel, buffers, list, ints, floats);
  if (!pieces.empty())
    made->setAttr(kPiecesAttr, target().getDenseI64ArrayAttr(pieces));
  if (mlir::Attribute chunk = current ? current->getAttr(kChunkAttr) : mlir::Attribute())
    made->setAttr(kChunkAttr, chunk);
}

/// Where the operand is a result of the current op, element for element.
void EntryLowering::appendPieceOf(const View &operand, size_t number, llvm::SmallVectorImpl<int64_t> &pieces) {
  if (!operand || !current)
    return;
  for (mlir::OpResult result : current->getResults()) {
    auto known = storage.find(result);
    if (known == storage.end() || known->second.value != operand.value || known->second.offset != operand.offset ||
        tensorType(result).getNumElements() != operand.elements())
      continue;
    if (operand.dense() || tensorType(result).getShape() == llvm::ArrayRef<int64_t>(operand.shape))
      return appendPiece(result, number, operand.shape, pieces);
  }
}

void EntryLowering::alias(Value result, View of) {
  if (!places.contains(result) && !returned.contains(result)) {
    storage[result] = of;
    return;
  }
  copy(of, view(result));
}

/// Results that an op only sets side by side (concat, stack) are made where it would copy them to. Not a returned one, not one
/// that is made of another part of the same result, and at most one per op.
void EntryLowering::placeParts() {
  for (Operation &op : llvm::reverse(entry.front().without_terminator())) {
    if (committed.contains(&op) || !llvm::isa<sym::KernelRule>(op))
      continue;
    std::optional<PartsProbe> parts = PartsProbe::of(&op);
    if (!parts || places.contains(op.getResult(0)) || llvm::all_of(op.getOperands(), [](Value operand) {
          return !operand.getDefiningOp() || llvm::isa<sym::ReadOp>(operand.getDefiningOp());
        }))
      continue;
    llvm::SmallDenseMap<Value, View, 8> windows; // of those that can be made in place
    llvm::SmallPtrSet<Operation *, 8> makers;
    for (auto &[part, window] : parts->windows) {
      Operation *maker = part.getDefiningOp();
      if (maker && !llvm::isa<sym::ReadOp>(maker) && !committed.contains(maker) && !returned.contains(part) &&
          !places.contains(part) && makers.insert(maker).second)
        windows[part] = window;
    }
    location = launchLocation(&op);
    for (auto &[part, unused] : parts->windows) {
      auto window = windows.find(part);
      if (window == windows.end() || llvm::any_of(part.getDefiningOp()->getOperands(),
                                                  [&](Value operand) { return windows.contains(operand); }))
        continue;
      View place = window->second;
      place.value = view(op.getResult(0)).value;
      places[part] = place;
    }
  }
}

} // namespace lstmc::passes
