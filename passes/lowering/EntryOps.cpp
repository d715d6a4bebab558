// Lowering of an entry's ops to launches, and allocation of their memory.
#include "llvm/ADT/MapVector.h"

#include "backends/registry/Targets.h"
#include "executor/abi/Packing.h"
#include "ir/sym/Attributes.h"
#include "ir/sym/Diagnose.h"
#include "ir/sym/OpTable.h"
#include "passes/LaunchLocation.h"
#include "passes/OperandSlices.h"
#include "passes/lowering/EntryLowering.h"

namespace lstmc::passes {

using exec::Kind;
using mlir::Operation;
using mlir::Value;
using sym::View;

namespace {

/// Maximum growth, in bytes, of a value that is kept between calls relative to its operands.
constexpr int64_t kKeptBytes = 64 << 10;

int64_t bytesOf(mlir::RankedTensorType type) {
  return type.getNumElements() * int64_t(dtypeBytes(exec::dtypeOf(type.getElementType())));
}

/// Name of a result in plans and messages.
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

} // namespace

//===---- ops ---------------------------------------------------------------------------------===//

mlir::LogicalResult EntryLowering::lower(Operation *op) {
  current = op;
  if (auto read = llvm::dyn_cast<sym::ReadOp>(op)) {
    Value memory = memoryOf(read.getSource());
    storage[read.getValue()] = placeOf(read.getSource(), read.getFirst(), read.getType());
    Kind kind = memory.getDefiningOp<exec::BufferOp>().getKind();
    if (!changing.contains(memory) && (kind == Kind::Parameter || kind == Kind::Auxiliary))
      constant.insert(memory);
    return mlir::success();
  }
  location = launchLocation(op);
  keepApart(op);
  preparing = dependsOnParametersAlone(op);
  mlir::LogicalResult result = mlir::success();
  if (isElementwise(op))
    result = lowerElementwise(op);
  else if (auto rule = llvm::dyn_cast<sym::KernelRule>(op))
    result = rule.emitKernels(*this);
  else
    return sym::emitCoded(op, ErrorCode::E0402)
           << "nothing lowers " << op->getName().stripDialect();
  for (const auto &[from, to] : pendingCopies)
    copy(from, to);
  pendingCopies.clear();
  preparing = false;
  current = nullptr;
  return result;
}

/// Kernels read and write disjoint memory: a result that was to be placed beside its own operands,
/// or beside a value that these are views of, is computed elsewhere and copied.
void EntryLowering::keepApart(Operation *op) {
  if (committed.contains(op))
    return;
  for (Value result : op->getResults()) {
    auto place = places.find(result);
    if (place != places.end() && llvm::any_of(op->getOperands(), [&](Value operand) {
          return storage.lookup(operand).value == place->second.value;
        }))
      places.erase(place);
  }
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
    return sym::emitCoded(op, ErrorCode::E0402)
           << "a fused program of " << size.instructions << " operations with " << size.live
           << " values at once is too large";
  launchFused(op, *body);
  return mlir::success();
}

/// The location of each instruction; null if all are the same.
static mlir::ArrayAttr instructionLocations(mlir::Block &body) {
  llvm::SmallVector<mlir::Attribute> locations;
  for (Operation &op : body.without_terminator())
    locations.push_back(mlir::LocationAttr(op.getLoc()));
  return llvm::all_equal(locations)
             ? mlir::ArrayAttr()
             : mlir::ArrayAttr::get(body.getParent()->getContext(), locations);
}

/// Operands broadcast to the shape of the results; unused and repeated operands are left out.
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
  instructions = instructionLocations(body);
  FusedArguments arguments{.program = plan.fused().idOf(body, inputs, outputs), .window = {}};
  if (mlir::DenseI64ArrayAttr window = windowOf(op))
    arguments.window = window.asArrayRef();
  launch(arguments, views);
  instructions = nullptr;
}

//===---- memory ------------------------------------------------------------------------------===//

View EntryLowering::whole(Value memory) const {
  auto type = llvm::cast<mlir::MemRefType>(memory.getType());
  View view;
  view.value = memory;
  view.shape.assign(type.getShape().begin(), type.getShape().end());
  view.strides = exec::denseStrides(type.getShape());
  view.dtype = exec::dtypeOf(type.getElementType());
  return view;
}

View EntryLowering::placeOf(llvm::StringRef symbol, std::optional<uint64_t> first,
                            mlir::Type tensor) const {
  View all = whole(memoryOf(symbol));
  if (!first)
    return all;
  return all.reshape(all.elements())
      .slice(0, int64_t(*first), llvm::cast<mlir::RankedTensorType>(tensor).getNumElements());
}

/// Buffers that only one program uses belong to that program; buffers that main reads from prepare
/// belong to the plan.
Value EntryLowering::allocate(Kind kind, llvm::StringRef name, llvm::ArrayRef<int64_t> shape,
                              mlir::Type element) {
  return createBuffer(target(), kind, name, device, shape, element, location);
}

Value EntryLowering::allocateResult(Value value) {
  mlir::RankedTensorType type = tensorType(value);
  if (preparing) {
    Value memory = plan.persistent(Kind::Packed, nameOf(value), device, type.getShape(),
                                   type.getElementType(), location);
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
  return whole(
      allocate(Kind::Workspace, name, {bytes}, exec::typeOf(DType::U8, entry.getContext())));
}

int64_t EntryLowering::libraryBytes(const View &weight) {
  if (size_t(device) >= devices.size())
    return 0;
  const size_t last = weight.shape.size() - 1;
  return targetOf(std::string_view(devices[size_t(device)]))
      .libraryBytes(fast,
                    target::LibraryProduct{.matrices = weight.rank() > 2 ? weight.shape[0] : 1,
                                           .columns = weight.shape[last - 1],
                                           .depth = weight.shape[last],
                                           .elementBytes = int64_t(dtypeBytes(weight.dtype))});
}

int64_t EntryLowering::libraryBytes(const RnnForwardArguments &arguments, const View &x,
                                    const View &y) {
  if (size_t(device) >= devices.size())
    return 0;
  return targetOf(std::string_view(devices[size_t(device)]))
      .libraryBytes(fast, target::LibraryLayer{.gates = gateCount(arguments.mode),
                                               .steps = y.shape[0],
                                               .batch = y.shape[1],
                                               .inputs = x.shape[2],
                                               .units = y.shape[2],
                                               .elementBytes = int64_t(dtypeBytes(y.dtype)),
                                               .copiesX = arguments.reverse || !x.dense(),
                                               .copiesY = arguments.reverse || !y.dense()});
}

View EntryLowering::denseCopy(View view) {
  // A copy made in one program is not available in the other.
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
  // Recomputed ops pack again; otherwise the packed weights of forward would have to be kept until
  // then.
  int64_t use = current && current->hasAttr(sym::kRecomputeAttr) ? -3 - gates : gates;
  Value &memory = kept ? plan.prepared().find(weight, gates) : copies.find(weight, use);
  bool isNew = !memory;
  auto source = weight.value.getDefiningOp<exec::BufferOp>();
  if (isNew) {
    int64_t elements = weight.shape[0] * packedElements(weight.shape[1], weight.shape[2], gates);
    mlir::Type element = exec::typeOf(weight.dtype, entry.getContext());
    std::string name = source.getName().str() + ".packed";
    memory = kept
                 ? plan.persistent(Kind::Packed, name, device, {elements}, element, source.getLoc())
                 : allocate(Kind::Workspace, name, {elements}, element);
  }
  View result = whole(memory);
  // Every entry that reads a packed weight has the launch in its own prepare program; `copies`
  // records which are there.
  Value &here = copies.find(weight, use);
  if (kept ? !here : isNew) {
    here = memory;
    bool before = std::exchange(preparing, kept);
    launch(PackArguments{.gates = gates}, {weight, result});
    preparing = before;
  }
  return result;
}

void EntryLowering::launch(KernelId kernel, llvm::ArrayRef<View> operands,
                           llvm::ArrayRef<int64_t> ints, llvm::ArrayRef<double> floats) {
  if (kernel == KernelId::Copy && operands[0].value == operands[1].value &&
      operands[0].offset == operands[1].offset && operands[0].shape == operands[1].shape &&
      operands[0].strides == operands[1].strides)
    return; // made in its place
  if (kernel == KernelId::Copy && operands[0].value == operands[1].value)
    return copy(denseCopy(operands[0]), operands[1]); // a view of memory beside it
  llvm::SmallVector<int64_t> list, pieces;
  llvm::SmallVector<Value> buffers;
  for (auto [number, operand] : llvm::enumerate(operands)) {
    appendPieceOf(operand, number, pieces);
    exec::OperandView view;
    if (operand) {
      buffers.push_back(operand.value);
      view.buffer = operand.value;
      view.whole = operand.offset == 0 && operand.dense() &&
                   llvm::ArrayRef<int64_t>(operand.shape) ==
                       llvm::cast<mlir::MemRefType>(operand.value.getType()).getShape();
      view.offset = operand.offset;
      view.shape = operand.shape;
      view.strides = operand.strides;
      // Strides of extents of 1 are irrelevant; they are set as for dense rows.
      for (size_t axis = view.shape.size(); axis-- > 0;)
        if (view.shape[axis] == 1)
          view.strides[axis] =
              axis + 1 < view.shape.size() ? view.strides[axis + 1] * view.shape[axis + 1] : 1;
    }
    exec::encodeView(view, list);
  }
  auto made = target().create<exec::LaunchOp>(location, kernel, buffers, list, ints, floats);
  if (!pieces.empty())
    made->setAttr(kOperandSlicesAttr, target().getDenseI64ArrayAttr(pieces));
  if (instructions)
    made->setAttr(kInstructionsAttr, instructions);
  if (mlir::Attribute chunk = current ? current->getAttr(kChunkAttr) : mlir::Attribute())
    made->setAttr(kChunkAttr, chunk);
}

/// Whether the operand matches a result of the current op element for element.
void EntryLowering::appendPieceOf(const View &operand, size_t number,
                                  llvm::SmallVectorImpl<int64_t> &pieces) {
  if (!operand || !current)
    return;
  for (mlir::OpResult result : current->getResults()) {
    auto known = storage.find(result);
    if (known == storage.end() || known->second.value != operand.value ||
        known->second.offset != operand.offset ||
        tensorType(result).getNumElements() != operand.elements())
      continue;
    if (operand.dense() || tensorType(result).getShape() == llvm::ArrayRef<int64_t>(operand.shape))
      return appendOperandSlice(result, number, operand.shape, pieces);
  }
}

void EntryLowering::alias(Value result, View of) {
  if (!places.contains(result) && !returned.contains(result)) {
    storage[result] = of;
    return;
  }
  copy(of, view(result));
}

} // namespace lstmc::passes
