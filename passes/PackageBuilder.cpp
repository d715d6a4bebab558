#include "passes/PackageBuilder.h"

#include "executor/abi/EntryNames.h"
#include "executor/abi/FastRules.h"
#include "executor/abi/ScalarOps.h"
#include "executor/base/Escape.h"
#include "executor/base/Numeric.h"
#include "executor/package/Package.h"
#include "ir/exec/Access.h"
#include "ir/sym/Attributes.h"
#include "ir/sym/Location.h"
#include "passes/Lifetimes.h"
#include "passes/OperandSlices.h"
#include "passes/lowering/InitialValue.h"

namespace lstmc::passes {

namespace {

static_assert(uint32_t(exec::Kind::Parameter) == uint32_t(package::Kind::Parameter) &&
              uint32_t(exec::Kind::Gradient) == uint32_t(package::Kind::Gradient) &&
              uint32_t(exec::Kind::Activation) == uint32_t(package::Kind::Activation) &&
              uint32_t(exec::Kind::Packed) == uint32_t(package::Kind::Packed));

std::string textAttr(mlir::Operation *op, llvm::StringRef name) {
  auto found = op->getAttrOfType<mlir::StringAttr>(name);
  return found ? found.str() : std::string();
}

class Builder {
public:
  explicit Builder(exec::PlanOp plan) : plan(plan) { data.locations.emplace_back(); }

  package::PackageData run() {
    for (auto [name, bytes] : llvm::zip_equal(plan.getDevices(), *plan.getArenaBytes()))
      data.devices.push_back({llvm::cast<mlir::StringAttr>(name).str(), uint64_t(bytes)});
    for (exec::BufferOp buffer : plan.getBody().getOps<exec::BufferOp>())
      addBuffer(buffer, package::kPersistent, 0, 0);
    for (exec::FusedOp fused : plan.getBody().getOps<exec::FusedOp>())
      addFused(fused);
    for (exec::BufferOp buffer : plan.getBody().getOps<exec::BufferOp>())
      addDeclaration(buffer);
    for (exec::ProgramOp program : plan.getBody().getOps<exec::ProgramOp>())
      if (program.getEntry() == llvm::StringRef(kInitialiseProgram))
        addInitialise(program);
      else
        addProgram(program);
    return std::move(data);
  }

private:
  uint32_t location(mlir::Location where) {
    auto [at, isNew] = locations.try_emplace(where.getAsOpaquePointer(), 0);
    if (!isNew)
      return at->second;
    package::Location place = locationOf(where);
    if (place == package::Location())
      return 0;
    at->second = uint32_t(data.locations.size());
    data.locations.push_back(std::move(place));
    return at->second;
  }

  void addBuffer(exec::BufferOp buffer, int32_t entry, uint32_t from, uint32_t to) {
    mlir::MemRefType type = buffer.getMemory().getType();
    package::Buffer row;
    row.device = uint32_t(buffer.getDevice());
    row.offset = uint64_t(*buffer.getOffset());
    row.bytes = uint64_t(buffer.bytes());
    row.dtype = exec::dtypeOf(type.getElementType());
    row.shape.assign(type.getShape().begin(), type.getShape().end());
    row.kind = package::Kind(uint8_t(buffer.getKind()));
    row.name = buffer.getName().str();
    row.location = location(buffer.getLoc());
    row.entry = entry;
    row.from = from;
    row.to = to;
    if (buffer.getNextOf())
      row.nextOf = indices.lookup(buffer.getNextOf());
    indices[buffer.getMemory()] = uint32_t(data.buffers.size());
    data.buffers.push_back(std::move(row));
  }

  void addFused(exec::FusedOp fused) {
    FusedProgram program;
    llvm::DenseMap<mlir::Value, uint16_t> numbers;
    mlir::Block &body = fused.getBody().front();
    for (mlir::BlockArgument argument : body.getArguments()) {
      numbers[argument] = uint16_t(program.types.size());
      program.types.push_back(exec::dtypeOf(argument.getType()));
    }
    program.results.assign(program.types.size(), -1);
    for (auto scalar : body.getOps<exec::ScalarOp>()) {
      FusedInstruction instruction;
      for (const ScalarRecord &record : kScalarRecords)
        if (llvm::StringRef(record.name) == scalar.getWhat())
          instruction.op = record.op;
      instruction.type = exec::dtypeOf(scalar.getValue().getType());
      uint16_t *fields[] = {&instruction.a, &instruction.b, &instruction.c};
      for (auto [field, input] : llvm::zip(fields, scalar.getInputs()))
        *field = numbers.lookup(input);
      if (scalar.getImmediate())
        instruction.immediate = scalar.getImmediate()->convertToDouble();
      numbers[scalar.getValue()] = uint16_t(program.types.size() + program.instructions.size());
      program.instructions.push_back(instruction);
    }
    auto results = llvm::cast<exec::ResultsOp>(body.getTerminator());
    for (auto [value, place] : llvm::zip_equal(results.getValues(), results.getInto()))
      program.results[size_t(place)] = numbers.lookup(value);
    data.programs.push_back(std::move(program));
  }

  /// Parameters, slots and states, in the order of the plan; copies of one are adjacent, the
  /// owner's first.
  void addDeclaration(exec::BufferOp buffer) {
    uint32_t index = indices.lookup(buffer.getMemory());
    switch (buffer.getKind()) {
    case exec::Kind::Parameter:
    case exec::Kind::Auxiliary: {
      if (auto known = parameters.find(buffer.getName()); known != parameters.end()) {
        data.parameters[known->second].buffers.push_back(index);
        return;
      }
      package::Parameter parameter;
      parameter.name = buffer.getName().str();
      parameter.buffers = {index};
      parameter.init = textAttr(buffer, "initialiser");
      parameter.values = initialValues(buffer);
      if (auto factor = buffer->getAttrOfType<mlir::FloatAttr>("lr_mult"))
        parameter.lrMult = factor.getValueAsDouble();
      if (auto factor = buffer->getAttrOfType<mlir::FloatAttr>("wd_mult"))
        parameter.wdMult = factor.getValueAsDouble();
      parameter.auxiliary = buffer.getKind() == exec::Kind::Auxiliary;
      parameter.group = textAttr(buffer, sym::kGroupAttr);
      parameter.location = location(buffer.getLoc());
      parameters[parameter.name] = data.parameters.size();
      data.parameters.push_back(std::move(parameter));
      return;
    }
    case exec::Kind::Optimizer:
      if (auto owner = parameters.find(textAttr(buffer, "parameter")); owner != parameters.end())
        addSlot(data.parameters[owner->second].slots, textAttr(buffer, "slot"), index);
      return;
    case exec::Kind::Gradient:
      if (auto owner = parameters.find(textAttr(buffer, "parameter")); owner != parameters.end())
        data.parameters[owner->second].gradients.push_back(index);
      return;
    case exec::Kind::State:
      data.states.push_back({buffer.getName().str(), {index}, location(buffer.getLoc())});
      return;
    default:
      return;
    }
  }

  /// The explicit initial values of the source, in the type of the buffer.
  static std::vector<uint8_t> initialValues(exec::BufferOp buffer) {
    auto values = buffer->getAttrOfType<mlir::DenseElementsAttr>(kInitialValuesAttr);
    if (!values)
      return {};
    const DType dtype = exec::dtypeOf(buffer.getMemory().getType().getElementType());
    std::vector<uint8_t> bytes(size_t(values.getNumElements()) * dtypeBytes(dtype));
    for (auto [i, value] : llvm::enumerate(values.getValues<double>()))
      writeElement(bytes.data(), dtype, int64_t(i), value);
    return bytes;
  }

  static void addSlot(std::vector<package::Slot> &slots, std::string name, uint32_t buffer) {
    auto known = llvm::find_if(slots, [&](const package::Slot &slot) { return slot.name == name; });
    if (known != slots.end())
      known->buffers.push_back(buffer);
    else
      slots.push_back({std::move(name), {buffer}});
  }

  void addInitialise(exec::ProgramOp program) {
    for (exec::BufferOp buffer : program.getBody().getOps<exec::BufferOp>())
      addBuffer(buffer, package::kInitial, 0, 0);
    for (exec::LaunchOp launch : program.getBody().getOps<exec::LaunchOp>()) {
      package::Launch row = makeLaunch(launch);
      auto buffer = exec::buffersOf(launch)[1].getDefiningOp<exec::BufferOp>();
      data.parameters[parameters.find(buffer.getName())->second].initialise = std::move(row);
    }
  }

  package::Launch makeLaunch(exec::LaunchOp launch) {
    package::Launch row;
    row.kernel = launch.kernelId();
    for (const exec::OperandView &view : launch.operandViews()) {
      package::Operand &operand = row.operands.emplace_back();
      if (!view)
        continue;
      operand.buffer = indices.lookup(view.buffer);
      operand.offset = view.offset;
      operand.shape.assign(view.shape.begin(), view.shape.end());
      if (exec::denseStrides(view.shape) != view.strides)
        operand.strides.assign(view.strides.begin(), view.strides.end());
    }
    row.ints.assign(launch.getInts().begin(), launch.getInts().end());
    row.floats.assign(launch.getFloats().begin(), launch.getFloats().end());
    row.location = location(launch.getLoc());
    if (auto places = launch->getAttrOfType<mlir::ArrayAttr>(kInstructionsAttr))
      for (mlir::Attribute place : places)
        row.instructions.push_back(location(llvm::cast<mlir::LocationAttr>(place)));
    addPieces(launch, row);
    row.stream = uint32_t(launch.streamNumber());
    row.event = int32_t(launch.getEvent() ? int64_t(*launch.getEvent()) : -1);
    row.waits.assign(launch.awaited().begin(), launch.awaited().end());
    return row;
  }

  /// Stores the slices of the operands that the launch writes; slices of operands that it only
  /// reads are dropped.
  void addPieces(exec::LaunchOp launch, package::Launch &row) {
    if (auto chunk = launch->getAttrOfType<mlir::DenseI64ArrayAttr>(kChunkAttr)) {
      row.chunk = int32_t(chunk[0]);
      row.firstStep = uint32_t(chunk[1]);
    }
    auto pieces = launch->getAttrOfType<mlir::DenseI64ArrayAttr>(kOperandSlicesAttr);
    for (llvm::ArrayRef<int64_t> left = pieces ? pieces.asArrayRef() : llvm::ArrayRef<int64_t>();
         !left.empty();) {
      auto take = [&] {
        llvm::ArrayRef<int64_t> numbers = left.slice(1, size_t(left.front()));
        left = left.drop_front(1 + numbers.size());
        return std::vector<int64_t>(numbers.begin(), numbers.end());
      };
      package::Piece piece;
      piece.operand = uint32_t(left.front());
      left = left.drop_front();
      piece.window = take();
      piece.shape = take();
      if (package::writes(data, row, piece.operand))
        row.pieces.push_back(std::move(piece));
    }
  }

  void addProgram(exec::ProgramOp program) {
    auto entry = llvm::find_if(
        data.entries, [&](const package::Entry &e) { return e.name == program.getEntry(); });
    auto number = int32_t(entry - data.entries.begin());
    if (entry == data.entries.end()) {
      data.entries.emplace_back();
      data.entries.back().name = program.getEntry().str();
    }
    Lifetimes lives(program);
    for (const Lifetime &life : lives.buffers)
      addBuffer(life.buffer, number, life.from, life.to);
    for (exec::InputOp input : program.getBody().getOps<exec::InputOp>())
      data.entries[size_t(number)].inputs.push_back(binding(input));
    for (exec::OutputOp output : program.getBody().getOps<exec::OutputOp>()) {
      data.entries[size_t(number)].outputs.push_back(binding(output));
      addMetric(output);
    }
    package::DeviceProgram row;
    row.device = uint32_t(program.getDevice());
    row.commit = lives.commit;
    for (exec::LaunchOp launch : lives.launches)
      row.launches.push_back(makeLaunch(launch));
    data.entries[size_t(number)].programs.push_back(std::move(row));
  }

  /// A head is measured in `evaluate`, which may return its scores, and in `step`.
  void addMetric(exec::OutputOp output) {
    std::string head = textAttr(output, "metric"), scores = textAttr(output, "scores");
    if (head.empty())
      return;
    auto found = llvm::find_if(
        data.metrics, [&](const package::Metric &m) { return m.name == output.getName(); });
    auto classes = output->getAttrOfType<mlir::IntegerAttr>("classes");
    if (found == data.metrics.end())
      data.metrics.push_back(
          {output.getName().str(), head, classes ? uint64_t(classes.getInt()) : 0, scores});
    else if (!scores.empty())
      found->scores = scores;
  }

  template <typename Op> package::Binding binding(Op op) {
    package::Binding row{
        op.getName().str(), indices.lookup(op.getMemory()), op.getRole().str(), {}};
    for (mlir::Attribute dim : op.getDims())
      row.dims.push_back(llvm::cast<mlir::StringAttr>(dim).str());
    return row;
  }

  exec::PlanOp plan;
  package::PackageData data;
  llvm::DenseMap<mlir::Value, uint32_t> indices;
  llvm::DenseMap<const void *, uint32_t> locations; ///< looked up, never iterated
  llvm::StringMap<size_t> parameters;
};

} // namespace

package::Location locationOf(mlir::Location location) {
  package::Location place;
  if (auto named = llvm::dyn_cast<mlir::NameLoc>(location)) {
    auto [op, name] = named.getName().strref().split(' ');
    place.op = escaped(op.str());
    place.name = escaped(name.str());
    location = named.getChildLoc();
  }
  SourceRange range = sym::decode(location);
  // In the form in which they are shown: a package holds no control characters.
  place.file = escaped(range.file);
  place.line = uint32_t(range.line);
  place.column = range.line ? uint32_t(range.column) : 0;
  place.length = range.line ? uint32_t(range.length) : 0;
  place.text = escaped(range.text);
  for (const std::string &call : range.calls)
    place.notes.push_back(escaped(call));
  for (const auto &[name, value] : range.loops)
    place.notes.push_back("for " + name + " = " + std::to_string(value));
  return place;
}

package::PackageData buildPackage(exec::PlanOp plan) {
  package::PackageData data = Builder(plan).run();
  data.numerics = numericsText(DType::F32, FastRules());
  return data;
}

} // namespace lstmc::passes
