#include "viz/Cost.h"

#include <functional>
#include <numeric>

#include <fmt/format.h>

#include "mlir/IR/TypeUtilities.h"

#include "executor/abi/Gate.h"
#include "ir/sym/SymOps.h"

namespace lstmc::viz {

namespace {

/// An operand of a launch as its kernel sees it.
struct Window {
  std::vector<int64_t> shape, strides; ///< of an operand that is absent empty, as of one with a single element
  DType dtype = DType::F32;
  bool present = false;

  int64_t elements() const { return present ? std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>()) : 0; }
  int64_t last() const { return shape.empty() ? 1 : shape.back(); }
  /// Of elements in memory: an axis of stride 0 reads one again and again.
  int64_t bytes() const {
    int64_t count = present ? 1 : 0;
    for (size_t axis = 0; axis < shape.size(); ++axis)
      count *= strides.empty() || strides[axis] != 0 ? shape[axis] : 1;
    return count * int64_t(dtypeBytes(dtype));
  }
};

int64_t flopsOf(KernelId kernel, const std::vector<Window> &operands, llvm::ArrayRef<int64_t> ints, int64_t instructions) {
  const KernelRecord &record = kernelRecord(kernel);
  auto named = [&](std::string_view name) -> const Window & { return operands[size_t(record.operand(name))]; };
  switch (kernel) {
  case KernelId::Fused:
    return operands.empty() ? 0 : operands.back().elements() * instructions;
  case KernelId::Product:
    return 2 * named("y").elements() * named("x").last();
  case KernelId::RnnForward: {
    const Window &y = named("y");
    return 2 * y.elements() * gateCount(RnnMode(ints[size_t(record.integer("mode"))])) * (named("x").last() + y.last());
  }
  case KernelId::RnnBackward:
    return 2 * named("gates").elements() * (named("dx").present ? named("dx").last() + named("y").last() : named("y").last());
  case KernelId::WeightGradient: {
    // Pairs behind the fixed operands; a use by index adds rows and multiplies nothing.
    int64_t sum = 0;
    for (size_t i = record.operands.size(); i + 1 < operands.size(); i += 2)
      sum += operands[i].elements() * (operands[i + 1].shape.size() < operands[i].shape.size() ? 1 : 2 * operands[i + 1].last());
    return sum;
  }
  case KernelId::BiasGradient:
  case KernelId::NormSquared: {
    int64_t sum = 0;
    for (size_t i = record.operands.size(); i < operands.size(); ++i)
      sum += (kernel == KernelId::NormSquared ? 2 : 1) * operands[i].elements();
    return sum;
  }
  case KernelId::Reduce:
  case KernelId::RegressionMetric:
  case KernelId::LossMetric:
    return named("x").elements();
  case KernelId::Softmax:
  case KernelId::SoftmaxCrossEntropy:
  case KernelId::SoftmaxMetric:
    return 5 * named("x").elements();
  case KernelId::SoftmaxGradient:
  case KernelId::SoftmaxOutputGradient:
    return 4 * named("dx").elements();
  case KernelId::ValidCount:
    return named("label").elements();
  case KernelId::LayerNorm:
  case KernelId::LayerNormGradient:
    return 8 * named("x").elements();
  default:
    return 0; // moves elements
  }
}

Work workOf(KernelId kernel, const std::vector<Window> &operands, llvm::ArrayRef<int64_t> ints, int64_t instructions) {
  const KernelRecord &record = kernelRecord(kernel);
  Work work{flopsOf(kernel, operands, ints, instructions), 0};
  bool wide = false;
  for (size_t i = 0; i < operands.size(); ++i) {
    std::string_view name = i < record.operands.size() ? record.operands[i].name : "";
    wide |= operands[i].present && operands[i].dtype == DType::F64;
    if (name == "scratch")
      continue;
    // An embedding reads the rows that it copies, not the table.
    bool rows = kernel == KernelId::Gather && name == "w";
    work.bytes += rows ? operands[size_t(record.operand("y"))].bytes() : operands[i].bytes();
  }
  if (wide)
    work.flops *= 2;
  return work;
}

} // namespace

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

Work workOf(exec::LaunchOp launch) {
  std::vector<Window> operands;
  for (const exec::OperandView &view : launch.operandViews()) {
    Window &window = operands.emplace_back();
    if (!view)
      continue;
    window = {{view.shape.begin(), view.shape.end()}, {view.strides.begin(), view.strides.end()}, DType::F32, true};
    window.dtype = exec::dtypeOf(llvm::cast<mlir::MemRefType>(view.buffer.getType()).getElementType());
  }
  int64_t instructions = 0;
  if (launch.kernelId() == KernelId::Fused)
    for (auto fused : launch->getParentOfType<exec::PlanOp>().getBody().getOps<exec::FusedOp>())
      if (int64_t(fused.getId()) == launch.getInts()[0])
        instructions = llvm::range_size(fused.getBody().front().getOps<exec::ScalarOp>());
  return workOf(launch.kernelId(), operands, launch.getInts(), instructions);
}

Work workOf(const package::PackageData &package, const package::Launch &launch) {
  std::vector<Window> operands;
  for (const package::Operand &operand : launch.operands) {
    Window &window = operands.emplace_back();
    if (operand.buffer != package::kNoBuffer)
      window = {operand.shape, operand.strides, package.buffers[operand.buffer].dtype, true};
  }
  int64_t instructions =
      launch.kernel == KernelId::Fused ? int64_t(package.programs[size_t(launch.ints[0])].instructions.size()) : 0;
  return workOf(launch.kernel, operands, launch.ints, instructions);
}

std::string Rates::text() const {
  return fmt::format("estimate: the longer of computing at {:.4g} GFLOP/s and moving at {:.4g} GB/s, and {:.3g} µs a launch; {}",
                     figures.flopsPerSecond / 1e9, figures.bytesPerSecond / 1e9, figures.launchSeconds * 1e6,
                     measuredThreads ? fmt::format("rates of this machine with {} thread{} (bench --calibrate)", measuredThreads,
                                                   measuredThreads == 1 ? "" : "s")
                                     : "built-in rates of one core, not of this machine");
}

std::string durationText(double seconds) {
  if (seconds < 1e-3)
    return fmt::format("{:.3g} µs", seconds * 1e6);
  return seconds < 1 ? fmt::format("{:.3g} ms", seconds * 1e3) : fmt::format("{:.3g} s", seconds);
}

} // namespace lstmc::viz
