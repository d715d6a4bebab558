#include "viz/Cost.h"

#include <fmt/format.h>

#include "mlir/IR/TypeUtilities.h"

#include "executor/abi/KernelArguments.h"
#include "ir/sym/SymOps.h"

namespace lstmc::viz {

Work workOf(mlir::Operation *op) {
  Work work{sym::defaultFlops(op), sym::defaultMovedBytes(op)};
  if (auto rule = llvm::dyn_cast<sym::CostRule>(op))
    work = {rule.flops(), rule.movedBytes()};
  else if (auto fused = llvm::dyn_cast<sym::FusedOp>(op))
    work.flops = llvm::cast<mlir::RankedTensorType>(fused.getResult(0).getType()).getNumElements() *
                 int64_t(llvm::range_size(fused.getBody().front().without_terminator()));
  auto wide = [](mlir::Value value) { return mlir::getElementTypeOrSelf(value.getType()).isF64(); };
  if (llvm::any_of(op->getResults(), wide))
    work.flops *= 2;
  return work;
}

static target::ProgramWork programWork(exec::LaunchOp launch) {
  target::ProgramWork work;
  if (launch.kernelId() != KernelId::Fused)
    return work;
  const int64_t program = argumentsOf<FusedArguments>(launch.getInts()).program;
  for (auto fused : launch->getParentOfType<exec::PlanOp>().getBody().getOps<exec::FusedOp>())
    if (int64_t(fused.getId()) == program)
      for (exec::ScalarOp scalar : fused.getBody().front().getOps<exec::ScalarOp>()) {
        ++work.instructions;
        for (const ScalarRecord &record : kScalarRecords)
          work.functions +=
              record.name == std::string_view(scalar.getWhat()) && target::isFunction(record.op);
      }
  return work;
}

Work workOf(exec::LaunchOp launch) {
  std::vector<target::Window> operands;
  for (const exec::OperandView &view : launch.operandViews()) {
    target::Window &window = operands.emplace_back();
    if (!view)
      continue;
    window = {{view.shape.begin(), view.shape.end()},
              {view.strides.begin(), view.strides.end()},
              DType::F32,
              true};
    window.dtype =
        exec::dtypeOf(llvm::cast<mlir::MemRefType>(view.buffer.getType()).getElementType());
  }
  return target::workOf(launch.kernelId(), operands, launch.getInts(), programWork(launch));
}

std::string ratesText(const target::Machine &machine) {
  return "estimate: from what launches compute and move; " +
         (machine.measuredThreads
              ? fmt::format("rates of this machine with {} thread{} (bench --calibrate)",
                            machine.measuredThreads, machine.measuredThreads == 1 ? "" : "s")
              : std::string("built-in rates of one core, not of this machine"));
}

std::string durationText(double seconds) {
  if (seconds < 1e-3)
    return fmt::format("{:.3g} µs", seconds * 1e6);
  return seconds < 1 ? fmt::format("{:.3g} ms", seconds * 1e3) : fmt::format("{:.3g} s", seconds);
}

} // namespace lstmc::viz
