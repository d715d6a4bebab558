// Kernels of the ops in ProductOps.td.
#include "ir/sym/Create.h"
#include "ir/sym/KernelBuilder.h"
#include "ir/sym/SymOps.h"

namespace lstmc::sym {

namespace {

/// y[a, m, n] = sum over k of x[a, m, k] * w[a, n, k].
void emitProduct(KernelBuilder &builder, View x, View w, View bias, View y) {
  llvm::SmallVector<View, 5> operands = {builder.rows(x), builder.packed(w, 0), bias, y};
  if (const int64_t bytes = builder.libraryBytes(w))
    operands.push_back(builder.scratch(bytes));
  builder.launch(KernelId::Product, operands);
}

} // namespace

llvm::LogicalResult FullyConnectedOp::emitKernels(KernelBuilder &builder) {
  View weight = builder.view(getWeight());
  int64_t outputs = weight.shape[0], inputs = weight.shape[1];
  View x = builder.view(getData());
  int64_t rows = x.elements() / inputs;
  View bias = builder.viewOrAbsent(getBias());
  if (bias && !bias.dense())
    bias = builder.denseCopy(bias);
  emitProduct(builder, builder.reshaped(x, {1, rows, inputs}),
              weight.broadcastTo({1, outputs, inputs}), bias,
              builder.output(builder.view(getOutput()), {1, rows, outputs}));
  return mlir::success();
}

llvm::LogicalResult DotOp::emitKernels(KernelBuilder &builder) {
  View lhs = builder.view(getLhs()), rhs = builder.view(getRhs());
  if (getTransposeA())
    lhs = lhs.moveLast(0);
  if (!getTransposeB())
    rhs = rhs.moveLast(0);
  int64_t inner = lhs.shape.back(), rows = lhs.elements() / inner, columns = rhs.elements() / inner;
  emitProduct(builder, builder.reshaped(lhs, {1, rows, inner}),
              builder.reshaped(rhs, {1, columns, inner}), {},
              builder.output(builder.view(getOutput()), {1, rows, columns}));
  return mlir::success();
}

llvm::LogicalResult BatchDotOp::emitKernels(KernelBuilder &builder) {
  View lhs = builder.view(getLhs()), rhs = builder.view(getRhs());
  if (getTransposeA())
    lhs = lhs.transpose({0, 2, 1});
  if (!getTransposeB())
    rhs = rhs.transpose({0, 2, 1});
  View output = builder.view(getOutput());
  emitProduct(builder, lhs, rhs, {}, builder.output(output, output.shape));
  return mlir::success();
}

} // namespace lstmc::sym
