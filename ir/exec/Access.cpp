#include "ir/exec/Access.h"

#include "executor/abi/KernelArguments.h"

namespace lstmc::exec {

llvm::SmallVector<mlir::Value, 8> buffersOf(LaunchOp launch) {
  llvm::SmallVector<mlir::Value, 8> result;
  mlir::OperandRange buffers = launch.getBuffers();
  llvm::ArrayRef<int64_t> views = launch.getViews();
  unsigned next = 0;
  for (size_t at = 0; at < views.size(); ++at) {
    result.push_back(views[at] < 0 ? mlir::Value() : buffers[next++]);
    if (views[at] > 0)
      at += 1 + 2 * size_t(views[at] - 1);
  }
  return result;
}

Access::Access(PlanOp plan) {
  for (FusedOp fused : plan.getBody().getOps<FusedOp>()) {
    size_t id = size_t(fused.getId());
    if (written.size() <= id)
      written.resize(id + 1);
    written[id].resize(fused.getBody().getNumArguments());
    auto results = llvm::cast<ResultsOp>(fused.getBody().front().getTerminator());
    for (int64_t place : results.getInto())
      written[id].set(unsigned(place));
  }
}

OperandMode Access::mode(LaunchOp launch, size_t operand) const {
  const KernelRecord &record = kernelRecord(launch.kernelId());
  if (launch.kernelId() == KernelId::Fused) {
    auto id = size_t(argumentsOf<FusedArguments>(launch.getInts()).program);
    bool writes =
        id < written.size() && operand < written[id].size() && written[id].test(unsigned(operand));
    return writes ? OperandMode::Out : OperandMode::In;
  }
  size_t fixed = record.operands.size();
  return operand < fixed ? record.operands[operand].mode
                         : record.repeated[(operand - fixed) % record.repeated.size()].mode;
}

bool Access::mayBeItself(LaunchOp launch, size_t out, size_t in) const {
  if (launch.kernelId() == KernelId::Fused)
    return true;
  const KernelRecord &record = kernelRecord(launch.kernelId());
  return out < record.operands.size() && record.operands[out].itself == int(in);
}

} // namespace lstmc::exec
