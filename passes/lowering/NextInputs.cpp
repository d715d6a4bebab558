#include "passes/lowering/NextInputs.h"

#include "executor/package/MessageMemory.h"

namespace lstmc::passes {

void reserveNextInputs(PlanBuilder &builder) {
  exec::PlanOp plan = builder.plan();
  for (exec::BufferOp input : llvm::to_vector(plan.getBody().getOps<exec::BufferOp>())) {
    auto device = llvm::cast<mlir::StringAttr>(plan.getDevices()[unsigned(input.getDevice())]);
    if (input.getKind() != exec::Kind::Input ||
        package::hostSees(std::string_view(device.getValue())))
      continue;
    mlir::MemRefType type = input.getMemory().getType();
    mlir::Value next = builder.persistent(exec::Kind::Input, (input.getName() + ".next").str(),
                                          int64_t(input.getDevice()), type.getShape(),
                                          type.getElementType(), input.getLoc());
    next.getDefiningOp<exec::BufferOp>().getNextOfMutable().assign(input.getMemory());
  }
}

} // namespace lstmc::passes
