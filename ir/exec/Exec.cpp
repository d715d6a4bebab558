#include "ir/exec/Exec.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

#include "executor/abi/ScalarOps.h"
#include "executor/abi/Streams.h"

#include "ir/exec/ExecDialect.cpp.inc"
#include "ir/exec/ExecEnums.cpp.inc"
#define GET_OP_CLASSES
#include "ir/exec/ExecOps.cpp.inc"

namespace lstmc::exec {

using mlir::failure;
using mlir::LogicalResult;
using mlir::success;

void ExecDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "ir/exec/ExecOps.cpp.inc"
      >();
}

void PlanOp::build(mlir::OpBuilder &builder, mlir::OperationState &state,
                   llvm::ArrayRef<llvm::StringRef> devices) {
  state.getOrAddProperties<Properties>().devices = builder.getStrArrayAttr(devices);
  state.addRegion()->emplaceBlock();
}

void ProgramOp::build(mlir::OpBuilder &builder, mlir::OperationState &state, llvm::StringRef entry,
                      int64_t device) {
  state.getOrAddProperties<Properties>().entry = builder.getStringAttr(entry);
  state.getOrAddProperties<Properties>().device = builder.getI64IntegerAttr(device);
  state.addRegion()->emplaceBlock();
}

int64_t BufferOp::bytes() {
  mlir::MemRefType type = getMemory().getType();
  return type.getNumElements() * int64_t(dtypeBytes(dtypeOf(type.getElementType())));
}

mlir::LogicalResult BufferOp::verify() {
  if (!getNextOf())
    return mlir::success();
  auto input = getNextOf().getDefiningOp<BufferOp>();
  if (!input || getKind() != Kind::Input || input.getKind() != Kind::Input ||
      input.getDevice() != getDevice())
    return emitOpError("`next of` must name an input buffer on the same device");
  return mlir::success();
}

//===---- launches ----------------------------------------------------------------------------===//

void LaunchOp::build(mlir::OpBuilder &builder, mlir::OperationState &state, KernelId kernel,
                     mlir::ValueRange buffers, llvm::ArrayRef<int64_t> views,
                     llvm::ArrayRef<int64_t> ints, llvm::ArrayRef<double> floats) {
  state.addOperands(buffers);
  auto &properties = state.getOrAddProperties<Properties>();
  properties.kernel = builder.getI64IntegerAttr(int64_t(kernel));
  properties.views = builder.getDenseI64ArrayAttr(views);
  properties.ints = builder.getDenseI64ArrayAttr(ints);
  properties.floats = builder.getDenseF64ArrayAttr(floats);
}

/// Number of operands in the flat list of views.
static size_t countViews(llvm::ArrayRef<int64_t> list) {
  size_t count = 0;
  for (size_t at = 0; at < list.size(); ++at, ++count)
    if (list[at] > 0)
      at += 1 + 2 * size_t(list[at] - 1);
  return count;
}

llvm::SmallVector<OperandView> LaunchOp::operandViews() {
  llvm::ArrayRef<int64_t> list = getViews();
  llvm::SmallVector<OperandView> result;
  result.reserve(countViews(list));
  unsigned next = 0;
  for (size_t at = 0; at < list.size(); ++at) {
    OperandView &view = result.emplace_back();
    if (list[at] < 0)
      continue;
    view.buffer = getBuffers()[next++];
    if (list[at] == 0) {
      llvm::ArrayRef<int64_t> shape =
          llvm::cast<mlir::MemRefType>(view.buffer.getType()).getShape();
      view.shape.assign(shape.begin(), shape.end());
      view.strides = denseStrides(shape);
      view.whole = true;
      continue;
    }
    size_t rank = size_t(list[at] - 1);
    view.offset = list[at + 1];
    view.shape.assign(list.begin() + at + 2, list.begin() + at + 2 + rank);
    view.strides.assign(list.begin() + at + 2 + rank, list.begin() + at + 2 + 2 * rank);
    at += 1 + 2 * rank;
  }
  return result;
}

/// Whether the flat list is well formed: correct lengths, as many views as buffers.
static bool wellFormed(llvm::ArrayRef<int64_t> list, size_t buffers) {
  size_t present = 0;
  for (size_t at = 0; at < list.size(); ++at) {
    if (list[at] < -1)
      return false;
    present += list[at] >= 0;
    if (list[at] > 0) {
      size_t skip = 1 + 2 * size_t(list[at] - 1);
      if (skip >= list.size() - at)
        return false;
      at += skip;
    }
  }
  return present == buffers;
}

LogicalResult LaunchOp::verify() {
  if (getKernel() >= kernelRecords().size()) // unsigned
    return emitOpError("kernel ") << getKernel() << " is not in the list of kernels";
  const KernelRecord &record = kernelRecord(kernelId());
  if (streamNumber() < 0 || streamNumber() >= int64_t(kMaxStreams))
    return emitOpError("is on stream ") << streamNumber() << ", want 0 to " << kMaxStreams - 1;
  if (!wellFormed(getViews(), getBuffers().size()))
    return emitOpError("views are malformed, or not as many as buffers");
  llvm::SmallVector<OperandView> views = operandViews();
  size_t fixed = record.operands.size(), group = record.repeated.size();
  if (!record.takesOperands(views.size()))
    return emitOpError() << "has " << views.size() << " operands, kernel \""
                         << llvm::StringRef(record.name) << "\" takes " << fixed
                         << (group ? " and groups more" : "");
  if (!record.takesInts(getInts().size()) || getFloats().size() != record.floats.size())
    return emitOpError() << "has " << getInts().size() << " ints and " << getFloats().size()
                         << " floats, kernel \"" << llvm::StringRef(record.name) << "\" takes "
                         << record.ints.size() << " and " << record.floats.size();
  for (auto [index, view] : llvm::enumerate(views)) {
    const OperandRecord &operand =
        index < fixed ? record.operands[index] : record.repeated[(index - fixed) % group];
    if (!view && !operand.optional)
      return emitOpError() << "lacks operand " << llvm::StringRef(operand.name) << " of kernel \""
                           << llvm::StringRef(record.name) << '"';
    if (!view || view.whole)
      continue;
    auto [low, high] = view.hull();
    int64_t elements = llvm::cast<mlir::MemRefType>(view.buffer.getType()).getNumElements();
    if (low < 0 || high > elements)
      return emitOpError() << "operand " << llvm::StringRef(operand.name) << " reaches elements "
                           << low << " to " << high << " of " << elements;
  }
  return success();
}

void LaunchOp::print(mlir::OpAsmPrinter &printer) {
  printer << " \"" << llvm::StringRef(kernelRecord(kernelId()).name) << "\"(";
  llvm::interleaveComma(operandViews(), printer, [&](const OperandView &view) {
    if (!view) {
      printer << '_';
      return;
    }
    printer << view.buffer;
    if (view.whole)
      return;
    printer << '[' << view.offset << " : ";
    llvm::interleaveComma(view.shape, printer);
    printer << " : ";
    llvm::interleaveComma(view.strides, printer);
    printer << ']';
  });
  printer << ')';
  if (!getInts().empty()) {
    printer << " ints [";
    llvm::interleaveComma(getInts(), printer);
    printer << ']';
  }
  if (!getFloats().empty()) {
    printer << " floats [";
    llvm::interleaveComma(getFloats(), printer, [&](double value) {
      printer.printAttributeWithoutType(mlir::Builder(getContext()).getF64FloatAttr(value));
    });
    printer << ']';
  }
  printer.printOptionalAttrDict((*this)->getAttrs(), {"kernel", "views", "ints", "floats"});
  printer << " : ";
  llvm::interleaveComma(getBuffers().getTypes(), printer);
}

/// Parses `4, 2`, or nothing.
static mlir::ParseResult parseExtents(mlir::OpAsmParser &parser,
                                      llvm::SmallVectorImpl<int64_t> &list) {
  int64_t value;
  mlir::OptionalParseResult first = parser.parseOptionalInteger(value);
  if (!first.has_value())
    return success();
  if (failed(*first))
    return failure();
  list.push_back(value);
  while (succeeded(parser.parseOptionalComma())) {
    if (parser.parseInteger(value))
      return failure();
    list.push_back(value);
  }
  return success();
}

static mlir::ParseResult
parseView(mlir::OpAsmParser &parser,
          llvm::SmallVectorImpl<mlir::OpAsmParser::UnresolvedOperand> &buffers,
          llvm::SmallVectorImpl<int64_t> &list) {
  if (succeeded(parser.parseOptionalKeyword("_"))) {
    list.push_back(-1);
    return success();
  }
  if (parser.parseOperand(buffers.emplace_back()))
    return failure();
  if (failed(parser.parseOptionalLSquare())) {
    list.push_back(0);
    return success();
  }
  int64_t offset;
  llvm::SmallVector<int64_t> shape, strides;
  if (parser.parseInteger(offset) || parser.parseColon() || parseExtents(parser, shape) ||
      parser.parseColon() || parseExtents(parser, strides) || parser.parseRSquare())
    return failure();
  if (shape.size() != strides.size())
    return parser.emitError(parser.getCurrentLocation(), "a view has as many strides as extents");
  list.push_back(int64_t(shape.size()) + 1);
  list.push_back(offset);
  list.append(shape);
  list.append(strides);
  return success();
}

mlir::ParseResult LaunchOp::parse(mlir::OpAsmParser &parser, mlir::OperationState &state) {
  std::string name;
  llvm::SMLoc nameAt = parser.getCurrentLocation();
  llvm::SmallVector<mlir::OpAsmParser::UnresolvedOperand> buffers;
  llvm::SmallVector<int64_t> views, ints;
  if (parser.parseString(&name))
    return failure();
  std::optional<KernelId> kernel = findKernel(name);
  if (!kernel)
    return parser.emitError(nameAt) << "no kernel is named \"" << name << '"';
  if (parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::Paren,
                                     [&] { return parseView(parser, buffers, views); }))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("ints")) &&
      (parser.parseLSquare() || parseExtents(parser, ints) || parser.parseRSquare()))
    return failure();
  llvm::SmallVector<double> floats;
  if (succeeded(parser.parseOptionalKeyword("floats")) &&
      parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::Square,
                                     [&] { return parser.parseFloat(floats.emplace_back()); }))
    return failure();
  llvm::SmallVector<mlir::Type> types;
  if (parser.parseOptionalAttrDict(state.attributes) || parser.parseColonTypeList(types) ||
      parser.resolveOperands(buffers, types, nameAt, state.operands))
    return failure();
  auto &properties = state.getOrAddProperties<Properties>();
  mlir::Builder &builder = parser.getBuilder();
  properties.kernel = builder.getI64IntegerAttr(int64_t(*kernel));
  properties.views = builder.getDenseI64ArrayAttr(views);
  properties.ints = builder.getDenseI64ArrayAttr(ints);
  properties.floats = builder.getDenseF64ArrayAttr(floats);
  return success();
}

//===---- fused programs ----------------------------------------------------------------------===//

static const ScalarRecord *findScalar(llvm::StringRef name) {
  for (const ScalarRecord &record : kScalarRecords)
    if (llvm::StringRef(record.name) == name)
      return &record;
  return nullptr;
}

LogicalResult ScalarOp::verify() {
  const ScalarRecord *record = findScalar(getWhat());
  if (!record)
    return emitOpError("no scalar operation is named \"") << getWhat() << '"';
  if (int(getInputs().size()) != record->operands)
    return emitOpError() << "has " << getInputs().size() << " operands, \"" << getWhat()
                         << "\" takes " << record->operands;
  return success();
}

LogicalResult ResultsOp::verify() {
  auto parent = llvm::cast<FusedOp>((*this)->getParentOp());
  if (getValues().size() != getInto().size())
    return emitOpError("has as many values as places");
  for (int64_t place : getInto())
    if (place < 0 || place >= int64_t(parent.getBody().getNumArguments()))
      return emitOpError("stores to operand ")
             << place << " of " << parent.getBody().getNumArguments();
  return success();
}

} // namespace lstmc::exec
