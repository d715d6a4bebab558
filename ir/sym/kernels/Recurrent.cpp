// Kernels of the ops in RecurrentOps.td, and of one layer and its gradient in TrainingOps.td.
#include <algorithm>

#include "executor/abi/Gate.h"
#include "executor/abi/Packing.h"
#include "executor/abi/Scratch.h"
#include "ir/sym/Create.h"
#include "ir/sym/KernelBuilder.h"
#include "ir/sym/SymOps.h"

namespace lstmc::sym {

namespace {

View rowsOrAbsent(KernelBuilder &builder, mlir::Value value) {
  View view = builder.viewOrAbsent(value);
  return view ? builder.rows(view) : view;
}

View denseOrAbsent(KernelBuilder &builder, mlir::Value value) {
  View view = builder.viewOrAbsent(value);
  return !view || view.dense() ? view : builder.denseCopy(view);
}

/// Size of a scratch of `bytes` bytes, followed by the scratch of the library for a product with
/// `weight`.
int64_t withLibrary(KernelBuilder &builder, int64_t bytes, const View &weight) {
  const int64_t library = weight ? builder.libraryBytes(weight) : 0;
  return library ? roundUp(bytes, kAlignment) + library : bytes;
}

/// The view for a result; absent if it has no readers.
View resultOrAbsent(KernelBuilder &builder, mlir::Value value) {
  View view = builder.viewOrAbsent(value);
  return view ? builder.output(view, view.shape) : view;
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
  RnnMode mode = *parseRnnMode(getMode());
  int64_t gates = gateCount(mode), units = r.shape[1], batch = x.shape[1],
          chunk = int64_t(getChunk().value_or(1));
  View y = builder.view(getY());
  const RnnForwardArguments arguments{.mode = mode, .reverse = getReverse(), .chunk = chunk};
  const View kept = resultOrAbsent(builder, getGates());
  llvm::SmallVector<View> operands = {x,
                                      builder.packed(w, gates),
                                      builder.packed(r, gates),
                                      denseOrAbsent(builder, getBi()),
                                      denseOrAbsent(builder, getBh()),
                                      rowsOrAbsent(builder, getH0()),
                                      rowsOrAbsent(builder, getC0()),
                                      builder.viewOrAbsent(getLength()),
                                      builder.output(y, y.shape),
                                      resultOrAbsent(builder, getHN()),
                                      resultOrAbsent(builder, getCN()),
                                      kept,
                                      resultOrAbsent(builder, getCells()),
                                      resultOrAbsent(builder, getBefore())};
  const int64_t own =
      scratchOf(arguments, batch, units, int64_t(dtypeBytes(x.dtype)), bool(kept)).bytes;
  // The scratch is for a library of recurrent layers, or for the kernel together with a library of
  // products.
  const int64_t layer =
      kept || getLength() ? 0 : builder.libraryBytes(arguments, x, operands[RnnForwardOperand::y]);
  operands.push_back(builder.scratch(std::max(withLibrary(builder, own, w), layer)));
  builder.launch(arguments, operands);
  return mlir::success();
}

llvm::LogicalResult RnnLayerGradientOp::emitKernels(KernelBuilder &builder) {
  View gates = builder.rows(builder.view(getGates())), w = builder.view(getW()),
       r = builder.view(getR());
  RnnMode mode = *parseRnnMode(getMode());
  int64_t units = r.shape[1], batch = gates.shape[1], chunk = int64_t(getChunk().value_or(1));
  auto input = [&](mlir::Value value) { return rowsOrAbsent(builder, value); };
  View dx = resultOrAbsent(builder, getDx()), dgates = builder.view(getDgates());
  View dhidden = getDhidden() ? builder.view(getDhidden()) : View();
  const RnnBackwardArguments arguments{.mode = mode, .reverse = getReverse(), .chunk = chunk};
  builder.launch(
      arguments,
      {gates, input(getCells()), input(getY()), input(getH0()), input(getC0()),
       builder.viewOrAbsent(getLength()), input(getBefore()),
       dx ? builder.packed(w.transpose({1, 0}), 0) : View(), builder.packed(r.transpose({1, 0}), 0),
       input(getDy()), input(getDhN()), input(getDcN()), builder.output(dgates, dgates.shape),
       dhidden ? builder.output(dhidden, dhidden.shape) : dhidden, dx,
       resultOrAbsent(builder, getDh0()), resultOrAbsent(builder, getDc0()),
       builder.scratch(withLibrary(
           builder, scratchOf(arguments, batch, units, int64_t(dtypeBytes(gates.dtype))).bytes,
           dx ? w : View()))});
  return mlir::success();
}

} // namespace lstmc::sym
