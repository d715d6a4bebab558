#include "passes/lowering/Tables.h"

#include "backends/registry/Targets.h"
#include "executor/abi/EntryNames.h"
#include "executor/abi/KernelArguments.h"

namespace lstmc::passes {

static target::LaunchExtents extentsOf(exec::LaunchOp launch,
                                       const std::vector<int64_t> &instructions) {
  target::LaunchExtents extents;
  for (const exec::OperandView &view : launch.operandViews()) {
    ++extents.operands;
    extents.rank = std::max(extents.rank, int64_t(view.shape.size()));
  }
  extents.ints = int64_t(launch.getInts().size());
  if (launch.kernelId() == KernelId::Fused)
    extents.instructions = instructions[size_t(launch.getInts()[FusedInt::program])];
  return extents;
}

void reserveTables(PlanBuilder &builder) {
  exec::PlanOp plan = builder.plan();
  std::vector<int64_t> instructions; // of fused programs, by their number
  for (exec::FusedOp fused : plan.getBody().getOps<exec::FusedOp>()) {
    instructions.push_back(0);
    for ([[maybe_unused]] exec::ScalarOp scalar : fused.getBody().front().getOps<exec::ScalarOp>())
      ++instructions.back();
  }
  std::vector<int64_t> bytes(plan.getDevices().size());
  for (exec::ProgramOp program : plan.getBody().getOps<exec::ProgramOp>()) {
    const auto device = size_t(program.getDevice());
    auto name = llvm::cast<mlir::StringAttr>(plan.getDevices()[unsigned(device)]);
    const target::Target &target = targetOf(std::string_view(name.getValue()));
    for (exec::LaunchOp launch : program.getBody().getOps<exec::LaunchOp>())
      if (program.getEntry() != llvm::StringRef(kInitialiseProgram))
        bytes[device] += target.tableBytes(launch.kernelId(), extentsOf(launch, instructions));
  }
  mlir::Type byte = exec::typeOf(DType::U8, plan.getContext());
  for (size_t device = 0; device < bytes.size(); ++device)
    if (bytes[device] > 0)
      builder.persistent(exec::Kind::Workspace, "tables", int64_t(device), {bytes[device]}, byte,
                         plan.getLoc());
}

} // namespace lstmc::passes
