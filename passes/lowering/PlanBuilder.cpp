#include "passes/lowering/PlanBuilder.h"

#include "executor/abi/EntryNames.h"
#include "executor/abi/Scratch.h"
#include "ir/sym/Attributes.h"
#include "ir/sym/Diagnose.h"
#include "ir/sym/WrittenOps.h"
#include "passes/lowering/InitialValue.h"

namespace lstmc::passes {

using mlir::Value;

/// The third entry of fit's ["initializer", value, initialiser]; null if there is none.
static mlir::ArrayAttr fitInitialiser(mlir::ModuleOp module) {
  auto settings = module->getAttrOfType<mlir::ArrayAttr>(sym::kFitAttr);
  if (!settings)
    return {};
  for (mlir::Attribute attribute : settings) {
    auto row = llvm::dyn_cast<mlir::ArrayAttr>(attribute);
    auto key =
        row && row.size() > 2 ? llvm::dyn_cast<mlir::StringAttr>(row[0]) : mlir::StringAttr();
    if (key && key.getValue() == "initializer")
      return llvm::dyn_cast<mlir::ArrayAttr>(row[2]);
  }
  return {};
}

Value &ViewMemo::find(const sym::View &view, int64_t use) {
  std::vector<int64_t> key = {use, view.offset};
  key.insert(key.end(), view.shape.begin(), view.shape.end());
  for (auto [extent, stride] : llvm::zip_equal(view.shape, view.strides))
    key.push_back(extent == 1 ? 0 : stride);
  return byValue[view.value][std::move(key)];
}

Value createBuffer(mlir::OpBuilder &builder, exec::Kind kind, llvm::StringRef name, int64_t device,
                   llvm::ArrayRef<int64_t> shape, mlir::Type element, mlir::Location location) {
  return builder.create<exec::BufferOp>(location, mlir::MemRefType::get(shape, element), kind, name,
                                        uint64_t(device), mlir::IntegerAttr(), Value());
}

PlanBuilder::PlanBuilder(mlir::ModuleOp module, llvm::ArrayRef<std::string> devices) {
  auto builder = mlir::OpBuilder::atBlockEnd(module.getBody());
  llvm::SmallVector<llvm::StringRef> names(devices.begin(), devices.end());
  planOp = builder.create<exec::PlanOp>(module.getLoc(), llvm::ArrayRef<llvm::StringRef>(names));
  builder.setInsertionPointToStart(&planOp.getBody().front());
  initialiseOp = builder.create<exec::ProgramOp>(module.getLoc(), kInitialiseProgram, 0);
  programs = std::make_unique<FusedPrograms>(initialiseOp);
}

Value PlanBuilder::persistent(exec::Kind kind, llvm::StringRef name, int64_t device,
                              llvm::ArrayRef<int64_t> shape, mlir::Type element,
                              mlir::Location location) {
  mlir::OpBuilder builder(initialiseOp);
  return createBuffer(builder, kind, name, device, shape, element, location);
}

exec::ProgramOp PlanBuilder::program(llvm::StringRef entry, int64_t device,
                                     mlir::Location location) {
  auto builder = mlir::OpBuilder::atBlockEnd(&planOp.getBody().front());
  return builder.create<exec::ProgramOp>(location, entry, device);
}

Value PlanBuilder::declared(llvm::StringRef symbol, int64_t device) const {
  for (const auto &[where, memory] : memories.find(symbol)->second)
    if (where == device)
      return memory;
  llvm_unreachable("sync-parameters says on which devices a symbol is read and written");
}

Value PlanBuilder::input(exec::Kind kind, llvm::StringRef name, mlir::RankedTensorType type,
                         int64_t device, mlir::Location location) {
  Value &memory = inputs[{name.str(), type.getAsOpaquePointer(), device}];
  if (!memory)
    memory = persistent(kind, name, device, type.getShape(), type.getElementType(), location);
  return memory;
}

mlir::LogicalResult PlanBuilder::declare(mlir::ModuleOp module) {
  static constexpr int64_t kFirst[] = {0};
  auto add = [&](mlir::Operation &op, exec::Kind kind, llvm::StringRef name, mlir::Type tensor) {
    auto type = llvm::cast<mlir::RankedTensorType>(tensor);
    auto devices = op.getAttrOfType<mlir::DenseI64ArrayAttr>(sym::kDevicesAttr);
    auto slot = llvm::dyn_cast<sym::SlotOp>(op);
    mlir::DictionaryAttr said = op.getDiscardableAttrDictionary();
    if (devices || slot) {
      mlir::NamedAttrList list(said);
      list.erase(sym::kDevicesAttr);
      if (slot) {
        list.set("parameter", slot.getParameterAttr().getAttr());
        list.set("slot", slot.getSlotAttr());
      }
      said = list.getDictionary(op.getContext());
    }
    for (auto [i, device] :
         llvm::enumerate(devices ? devices.asArrayRef() : llvm::ArrayRef<int64_t>(kFirst))) {
      llvm::ArrayRef<int64_t> shape =
          slot && slot.getSlices() ? slot.getSlices()->slice(i, 1) : type.getShape();
      Value memory = persistent(kind, name, device, shape, type.getElementType(), op.getLoc());
      memory.getDefiningOp()->setDiscardableAttrs(said);
      memories[name].push_back({device, memory});
    }
  };
  for (mlir::Operation &op : *module.getBody()) {
    if (auto parameter = llvm::dyn_cast<sym::ParameterOp>(op)) {
      add(op, sym::isAuxiliary(parameter) ? exec::Kind::Auxiliary : exec::Kind::Parameter,
          parameter.getSymName(), parameter.getType());
    } else if (auto slot = llvm::dyn_cast<sym::SlotOp>(op)) {
      add(op, exec::Kind::Optimizer, slot.getSymName(), slot.getType());
    } else if (auto state = llvm::dyn_cast<sym::StateOp>(op)) {
      add(op, exec::Kind::State, state.getSymName(), state.getType());
    }
  }
  return initialise(module);
}

/// The first device has a program `initialise`, before which fused programs are inserted; other
/// devices get one on demand.
exec::ProgramOp PlanBuilder::initialiseOn(int64_t device) {
  auto [known, isNew] = initialisers.try_emplace(device);
  if (isNew)
    known->second = device == 0 ? initialiseOp
                                : program(initialiseOp.getEntry(), device, initialiseOp.getLoc());
  return known->second;
}

/// Scratch for making rows or columns of a parameter orthonormal.
static Value initialiseScratch(mlir::OpBuilder &builder, const InitialiseArguments &arguments,
                               Value memory, int64_t device) {
  auto type = llvm::cast<mlir::MemRefType>(memory.getType());
  const int64_t rows = type.getRank() > 0 ? type.getDimSize(0) : 1;
  const int64_t bytes =
      scratchOf<int64_t>(arguments, rows, type.getNumElements() / rows,
                         int64_t(dtypeBytes(exec::dtypeOf(type.getElementType()))))
          .bytes;
  return createBuffer(builder, exec::Kind::Workspace, "initialise.scratch", device, {bytes},
                      exec::typeOf(DType::U8, builder.getContext()), memory.getLoc());
}

mlir::LogicalResult PlanBuilder::initialise(mlir::ModuleOp module) {
  mlir::ArrayAttr fallback = fitInitialiser(module);
  InitialValues initialValues;
  for (auto parameter : module.getOps<sym::ParameterOp>()) {
    auto type = llvm::cast<mlir::RankedTensorType>(parameter.getType());
    if (!type.getElementType().isF32() && !type.getElementType().isF64())
      return sym::emitCoded(parameter, ErrorCode::E0215)
             << "parameter \"" << parameter.getSymName() << "\" is "
             << dtypeLongName(exec::dtypeOf(type.getElementType())).data()
             << "; those of float32 and float64 are built so far";
    mlir::FailureOr<InitialValue> value = initialValues.resolve(
        parameter.getSymName(), type, parameter->getAttrOfType<mlir::ArrayAttr>("init"), fallback,
        parameter.getLoc());
    if (failed(value))
      return mlir::failure();
    auto [device, memory] = memories[parameter.getSymName()].front();
    exec::ProgramOp program = initialiseOn(device);
    auto builder = mlir::OpBuilder::atBlockEnd(&program.getBody().front());
    Value seed =
        input(exec::Kind::Scalar, "seed", mlir::RankedTensorType::get({1}, builder.getI64Type()),
              device, module.getLoc());
    if (program.getBody().front().empty())
      builder.create<exec::InputOp>(module.getLoc(), seed, "seed", "scalar",
                                    builder.getStrArrayAttr({}));
    memory.getDefiningOp()->setAttr("initialiser", builder.getStringAttr(value->text));
    if (value->values)
      memory.getDefiningOp()->setAttr(kInitialValuesAttr, value->values);
    const InitialiseArguments arguments{.kind = value->kind,
                                        .ordinal = int64_t(parameter.getOrdinal().value_or(0)),
                                        .variant = value->variant,
                                        .a = value->a,
                                        .b = value->b};
    llvm::SmallVector<Value> operands = {seed, memory};
    llvm::SmallVector<int64_t> views = {0, 0, -1};
    if (value->kind == InitKind::Orthogonal) {
      operands.push_back(initialiseScratch(builder, arguments, memory, device));
      views.back() = 0;
    }
    const WireArguments wire = wireArguments(arguments);
    builder.create<exec::LaunchOp>(parameter.getLoc(), KernelId::Initialise, operands, views,
                                   wire.ints, wire.floats);
  }
  return mlir::success();
}

} // namespace lstmc::passes
