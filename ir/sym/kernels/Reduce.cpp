// Kernels of the ops in ReduceOps.td.
#include "llvm/ADT/SmallBitVector.h"

#include "ir/sym/Create.h"
#include "ir/sym/KernelBuilder.h"
#include "ir/sym/SymOps.h"

namespace lstmc::sym {

namespace {

/// Reduces the marked axes of `data`. The view is permuted: kept axes first, then the marked ones.
void emitReduce(KernelBuilder &builder, mlir::Value data, mlir::Value output, ReduceKind kind,
                const llvm::SmallBitVector &reduced) {
  View x = builder.view(data);
  llvm::SmallVector<int64_t> order, kept;
  for (int64_t axis = 0; axis < x.rank(); ++axis)
    if (!reduced.test(unsigned(axis))) {
      order.push_back(axis);
      kept.push_back(x.shape[size_t(axis)]);
    }
  for (int64_t axis = 0; axis < x.rank(); ++axis)
    if (reduced.test(unsigned(axis)))
      order.push_back(axis);
  x = x.transpose(order);
  if (kept.empty()) {
    kept.push_back(1);
    llvm::SmallVector<int64_t> shape = {1};
    shape.append(x.shape.begin(), x.shape.end());
    x = x.broadcastTo(shape);
  }
  builder.launch(ReduceArguments{.kind = kind, .kept = int64_t(kept.size())},
                 {x, builder.output(builder.view(output), kept)});
}

llvm::SmallBitVector axesOf(mlir::Value data, std::optional<llvm::ArrayRef<int64_t>> axes,
                            bool exclude) {
  int64_t rank = rankedType(data).getRank();
  llvm::SmallBitVector marked(unsigned(rank), !axes || axes->empty());
  if (axes)
    for (int64_t axis : *axes)
      marked.set(unsigned(normalAxis(axis, rank)));
  if (exclude && axes && !axes->empty())
    marked.flip();
  return marked;
}

template <typename Op>
llvm::LogicalResult emitAxes(Op op, KernelBuilder &builder, ReduceKind kind) {
  emitReduce(builder, op.getData(), op.getOutput(), kind,
             axesOf(op.getData(), op.getAxis(), op.getExclude()));
  return mlir::success();
}

template <typename Op> llvm::LogicalResult emitSoftmax(Op op, KernelBuilder &builder, bool log) {
  View x = builder.view(op.getData());
  int64_t axis = normalAxis(op.getAxis(), x.rank());
  int64_t classes = x.shape[size_t(axis)], rows = x.elements() / classes;
  View length = builder.viewOrAbsent(op.getLength());
  if (length)
    length = builder.reshaped(length, {rows});
  View y = builder.output(builder.view(op.getOutput()).moveLast(axis), {rows, classes});
  double temperature = op.getTemperature() ? op.getTemperature()->convertToDouble() : 1.0;
  builder.launch(SoftmaxArguments{.log = log, .temperature = temperature},
                 {builder.reshaped(x.moveLast(axis), {rows, classes}), length, y});
  return mlir::success();
}

} // namespace

llvm::LogicalResult SumOp::emitKernels(KernelBuilder &builder) {
  return emitAxes(*this, builder, ReduceKind::Sum);
}
llvm::LogicalResult MeanOp::emitKernels(KernelBuilder &builder) {
  return emitAxes(*this, builder, ReduceKind::Mean);
}
llvm::LogicalResult MaxOp::emitKernels(KernelBuilder &builder) {
  return emitAxes(*this, builder, ReduceKind::Max);
}
llvm::LogicalResult MinOp::emitKernels(KernelBuilder &builder) {
  return emitAxes(*this, builder, ReduceKind::Min);
}
llvm::LogicalResult ProdOp::emitKernels(KernelBuilder &builder) {
  return emitAxes(*this, builder, ReduceKind::Prod);
}

llvm::LogicalResult NormOp::emitKernels(KernelBuilder &builder) {
  emitReduce(builder, getData(), getOutput(), ReduceKind::Norm,
             axesOf(getData(), getAxis(), false));
  return mlir::success();
}

llvm::LogicalResult ArgmaxOp::emitKernels(KernelBuilder &builder) {
  llvm::SmallVector<int64_t, 1> axis;
  if (getAxis())
    axis.push_back(*getAxis());
  emitReduce(builder, getData(), getOutput(), ReduceKind::ArgMax,
             axesOf(getData(), llvm::ArrayRef<int64_t>(axis), false));
  return mlir::success();
}

llvm::LogicalResult SoftmaxOp::emitKernels(KernelBuilder &builder) {
  return emitSoftmax(*this, builder, false);
}
llvm::LogicalResult LogSoftmaxOp::emitKernels(KernelBuilder &builder) {
  return emitSoftmax(*this, builder, true);
}

llvm::LogicalResult LayerNormOp::emitKernels(KernelBuilder &builder) {
  View x = builder.view(getData());
  int64_t axis = normalAxis(getAxis(), x.rank()), width = x.shape[size_t(axis)],
          rows = x.elements() / width;
  builder.launch(LayerNormArguments{.epsilon = getEps().convertToDouble()},
                 {builder.reshaped(x.moveLast(axis), {rows, width}), builder.view(getGamma()),
                  builder.view(getBeta()),
                  builder.output(builder.view(getOutput()).moveLast(axis), {rows, width}),
                  builder.output(builder.view(getMean()), {rows}),
                  builder.output(builder.view(getRstd()), {rows})});
  return mlir::success();
}

llvm::LogicalResult ReduceToOp::emitKernels(KernelBuilder &builder) {
  llvm::ArrayRef<int64_t> from = rankedType(getX()).getShape(), to = rankedType(getY()).getShape();
  llvm::SmallBitVector reduced(unsigned(from.size()));
  for (size_t axis = 0; axis < from.size(); ++axis)
    if (to.size() != from.size() || to[axis] != from[axis])
      reduced.set(unsigned(axis));
  emitReduce(builder, getX(), getY(), ReduceKind::Sum, reduced);
  return mlir::success();
}

} // namespace lstmc::sym
