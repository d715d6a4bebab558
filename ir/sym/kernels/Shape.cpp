// Kernels of the ops in ShapeOps.td. Most need none, because their result is a view with other
// strides.
#include "ir/sym/Create.h"
#include "ir/sym/KernelBuilder.h"
#include "ir/sym/SymOps.h"

namespace lstmc::sym {

namespace {

using llvm::ArrayRef;
using llvm::SmallVector;

ArrayRef<int64_t> shapeOf(mlir::Value value) { return rankedType(value).getShape(); }

/// The same elements in the shape of the result.
llvm::LogicalResult emitReshape(KernelBuilder &builder, mlir::Value data, mlir::Value output) {
  View view = builder.view(data);
  if (std::optional<View> same = view.tryReshape(shapeOf(output)))
    builder.alias(output, *same);
  else
    builder.copy(view, builder.output(builder.view(output), view.shape));
  return mlir::success();
}

/// Broadcasts extents of 1 with stride 0.
llvm::LogicalResult emitBroadcast(KernelBuilder &builder, mlir::Value data, mlir::Value output) {
  builder.alias(output, builder.view(data).broadcastTo(shapeOf(output)));
  return mlir::success();
}

} // namespace

llvm::LogicalResult ReshapeOp::emitKernels(KernelBuilder &builder) {
  return emitReshape(builder, getData(), getOutput());
}
llvm::LogicalResult FlattenOp::emitKernels(KernelBuilder &builder) {
  return emitReshape(builder, getData(), getOutput());
}
llvm::LogicalResult ExpandDimsOp::emitKernels(KernelBuilder &builder) {
  return emitReshape(builder, getData(), getOutput());
}
llvm::LogicalResult SqueezeOp::emitKernels(KernelBuilder &builder) {
  return emitReshape(builder, getData(), getOutput());
}

llvm::LogicalResult BroadcastAxisOp::emitKernels(KernelBuilder &builder) {
  return emitBroadcast(builder, getData(), getOutput());
}
llvm::LogicalResult BroadcastToOp::emitKernels(KernelBuilder &builder) {
  return emitBroadcast(builder, getData(), getOutput());
}

llvm::LogicalResult SwapAxisOp::emitKernels(KernelBuilder &builder) {
  View view = builder.view(getData());
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, view.rank()));
  std::swap(order[size_t(normalAxis(getDim1(), view.rank()))],
            order[size_t(normalAxis(getDim2(), view.rank()))]);
  builder.alias(getOutput(), view.transpose(order));
  return mlir::success();
}

llvm::LogicalResult TransposeOp::emitKernels(KernelBuilder &builder) {
  View view = builder.view(getData());
  SmallVector<int64_t> order;
  for (int64_t axis : getAxes())
    order.push_back(normalAxis(axis, view.rank()));
  if (order.empty())
    for (int64_t axis = view.rank(); axis-- > 0;)
      order.push_back(axis);
  builder.alias(getOutput(), view.transpose(order));
  return mlir::success();
}

llvm::LogicalResult ConcatOp::emitKernels(KernelBuilder &builder) {
  View output = builder.view(getOutput());
  int64_t axis = normalAxis(getDim(), output.rank()), begin = 0;
  for (mlir::Value arg : getArgs()) {
    View part = builder.view(arg);
    int64_t size = part.shape[size_t(axis)];
    builder.copy(part, output.slice(axis, begin, size));
    begin += size;
  }
  return mlir::success();
}

llvm::LogicalResult StackOp::emitKernels(KernelBuilder &builder) {
  View output = builder.view(getOutput());
  int64_t axis = normalAxis(getAxis(), output.rank());
  for (auto [index, arg] : llvm::enumerate(getArgs())) {
    View place = output.slice(axis, int64_t(index), 1);
    builder.copy(builder.view(arg), place.reshape(shapeOf(arg)));
  }
  return mlir::success();
}

llvm::LogicalResult SliceChannelOp::emitKernels(KernelBuilder &builder) {
  View view = builder.view(getData());
  int64_t axis = normalAxis(getAxis(), view.rank()),
          size = view.shape[size_t(axis)] / int64_t(getNumOutputs());
  for (auto [index, output] : llvm::enumerate(getOutputs()))
    builder.alias(output, view.slice(axis, int64_t(index) * size, size).reshape(shapeOf(output)));
  return mlir::success();
}

llvm::LogicalResult SliceOp::emitKernels(KernelBuilder &builder) {
  View view = builder.view(getData());
  auto entry = [](mlir::ArrayAttr entries, size_t axis) -> std::optional<int64_t> {
    if (!entries || axis >= entries.size() || llvm::isa<mlir::UnitAttr>(entries[axis]))
      return std::nullopt;
    return llvm::cast<mlir::IntegerAttr>(entries[axis]).getInt();
  };
  for (size_t axis = 0; axis < getBegin().size(); ++axis) {
    int64_t extent = view.shape[axis], step = entry(getStepAttr(), axis).value_or(1);
    std::optional<int64_t> given = entry(getBegin(), axis);
    int64_t begin = given.value_or(step > 0 ? 0 : extent - 1);
    if (begin < 0)
      begin += extent;
    begin = std::clamp(begin, step > 0 ? int64_t(0) : int64_t(-1), step > 0 ? extent : extent - 1);
    view = view.slice(int64_t(axis), begin, shapeOf(getOutput())[axis], step);
  }
  builder.alias(getOutput(), view);
  return mlir::success();
}

llvm::LogicalResult SliceAxisOp::emitKernels(KernelBuilder &builder) {
  View view = builder.view(getData());
  int64_t axis = normalAxis(getAxis(), view.rank()), begin = getBegin();
  if (begin < 0)
    begin += view.shape[size_t(axis)];
  builder.alias(getOutput(), view.slice(axis, begin, shapeOf(getOutput())[size_t(axis)]));
  return mlir::success();
}

llvm::LogicalResult CutOp::emitKernels(KernelBuilder &builder) {
  View whole = builder.view(getX());
  int64_t begin = 0;
  for (auto [piece, size] : llvm::zip_equal(getPieces(), getSizes())) {
    builder.alias(piece, whole.slice(0, begin, size));
    begin += size;
  }
  return mlir::success();
}

llvm::LogicalResult ReverseOp::emitKernels(KernelBuilder &builder) {
  View view = builder.view(getData());
  for (int64_t given : getAxis()) {
    int64_t axis = normalAxis(given, view.rank()), extent = view.shape[size_t(axis)];
    view = view.slice(axis, extent - 1, extent, -1);
  }
  builder.alias(getOutput(), view);
  return mlir::success();
}

/// x is broadcast to y read as [reps0, extent0, reps1, extent1, ...].
llvm::LogicalResult TileOp::emitKernels(KernelBuilder &builder) {
  View view = builder.view(getData());
  ArrayRef<int64_t> shape = shapeOf(getOutput());
  SmallVector<int64_t> single, whole;
  size_t added = shape.size() - view.shape.size();
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    int64_t extent = axis < added ? 1 : view.shape[axis - added];
    single.append({1, extent});
    whole.append({shape[axis] / extent, extent});
  }
  builder.copy(view.reshape(single).broadcastTo(whole),
               builder.output(builder.view(getOutput()), whole));
  return mlir::success();
}

/// y read as [before, extent, repeats, after].
llvm::LogicalResult RepeatOp::emitKernels(KernelBuilder &builder) {
  View view = builder.view(getData());
  int64_t axis = 0, repeats = getRepeats();
  if (getAxis())
    axis = normalAxis(*getAxis(), view.rank());
  else
    view = builder.reshaped(view, {view.elements()});
  SmallVector<int64_t> single(view.shape.begin(), view.shape.begin() + axis + 1), whole = single;
  single.push_back(1);
  whole.push_back(repeats);
  single.append(view.shape.begin() + axis + 1, view.shape.end());
  whole.append(view.shape.begin() + axis + 1, view.shape.end());
  builder.copy(view.reshape(single).broadcastTo(whole),
               builder.output(builder.view(getOutput()), whole));
  return mlir::success();
}

} // namespace lstmc::sym
