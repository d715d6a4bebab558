// Kernels of the ops in RecurrentOps.td, and of one layer and its gradient in TrainingOps.td.
#include "executor/abi/Gate.h"
#include "executor/abi/Packing.h"
#include "ir/sym/Create.h"
#include "ir/sym/KernelBuilder.h"
#include "ir/sym/SymOps.h"

namespace lstmc::sym {

namespace {

/// A weight [N, K] as its transpose, [1, K, N].
View transposed(const View &weight) {
  return weight.transpose({1, 0}).broadcastTo({1, weight.shape[1], weight.shape[0]});
}

int64_t modeNumber(llvm::StringRef name) {
  for (auto [index, mode] : llvm::enumerate(kRnnModeNames))
    if (llvm::StringRef(mode) == name)
      return int64_t(index);
  return 0;
}

} // namespace

llvm::LogicalResult RnnParamConcatOp::emitKernels(KernelBuilder &builder) {
  View output = builder.view(getOutput());
  int64_t begin = 0;
  for (mlir::Value arg : getArgs()) {
    View part = builder.view(arg);
    builder.copy(part, output.slice(0, begin, part.elements()).reshape(part.shape));
    begin += part.elements();
  }
  return mlir::success();
}

llvm::LogicalResult RnnLayerOp::emitKernels(KernelBuilder &builder) {
  View x = builder.rows(builder.view(getX())), w = builder.view(getW()), r = builder.view(getR());
  auto mode = RnnMode(modeNumber(getMode()));
  int64_t gates = gateCount(mode), units = r.shape[1], batch = x.shape[1], chunk = int64_t(getChunk().value_or(1));
  View y = builder.view(getY());
  auto result = [&](mlir::Value value) -> View {
    View view = builder.viewOrAbsent(value);
    return view ? builder.output(view, view.shape) : View();
  };
  builder.launch(KernelId::RnnForward,
                 {x, builder.packed(w.broadcastTo({1, w.shape[0], w.shape[1]}), gates),
                  builder.packed(r.broadcastTo({1, r.shape[0], r.shape[1]}), gates), builder.viewOrAbsent(getBi()),
                  builder.viewOrAbsent(getBh()), builder.viewOrAbsent(getH0()), builder.viewOrAbsent(getC0()),
                  builder.viewOrAbsent(getLength()), builder.output(y, y.shape), result(getHN()), result(getCN()),
                  result(getGates()), result(getCells()), result(getBefore()),
                  builder.scratch(rnnScratchBytes(mode, batch, units, chunk, int64_t(dtypeBytes(x.dtype))))},
                 {int64_t(mode), getReverse(), chunk});
  return mlir::success();
}

llvm::LogicalResult RnnLayerGradientOp::emitKernels(KernelBuilder &builder) {
  View gates = builder.view(getGates()), w = builder.view(getW()), r = builder.view(getR());
  auto mode = RnnMode(modeNumber(getMode()));
  int64_t units = r.shape[1], batch = gates.shape[1], chunk = int64_t(getChunk().value_or(1));
  auto operand = [&](mlir::Value value) { return builder.viewOrAbsent(value); };
  auto result = [&](mlir::Value value) -> View {
    View view = builder.viewOrAbsent(value);
    return view ? builder.output(view, view.shape) : View();
  };
  View dx = result(getDx());
  View dgates = builder.view(getDgates());
  builder.launch(KernelId::RnnBackward,
                 {gates, operand(getCells()), operand(getY()), operand(getH0()), operand(getC0()), operand(getLength()),
                  operand(getBefore()), dx ? builder.packed(transposed(w), 0) : View(), builder.packed(transposed(r), 0),
                  operand(getDy()), operand(getDhN()), operand(getDcN()), builder.output(dgates, dgates.shape),
                  result(getDhidden()), dx, result(getDh0()), result(getDc0()),
                  builder.scratch(rnnScratchBytes(mode, batch, units, chunk, int64_t(dtypeBytes(gates.dtype))))},
                 {int64_t(mode), getReverse(), chunk});
  return mlir::success();
}

} // namespace lstmc::sym
