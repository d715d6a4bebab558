// Gradients of ops that move elements: each element of the gradient moves back to its source.

#include "ir/sym/Create.h"
#include "ir/sym/GradientBuilder.h"
#include "ir/sym/SymOps.h"
#include "ir/sym/gradients/SendBack.h"

namespace lstmc::sym {

using llvm::LogicalResult;
using llvm::SmallVector;
using llvm::success;
using mlir::Value;

static LogicalResult reshapeBack(mlir::Operation *op, GradientBuilder &builder) {
  return sendBack(op, builder, [&](Value dy) {
    return createReshape(builder, op->getLoc(), dy, rankedType(op->getOperand(0)).getShape());
  });
}

LogicalResult ReshapeOp::buildGradient(GradientBuilder &builder) {
  return reshapeBack(*this, builder);
}
LogicalResult FlattenOp::buildGradient(GradientBuilder &builder) {
  return reshapeBack(*this, builder);
}
LogicalResult ExpandDimsOp::buildGradient(GradientBuilder &builder) {
  return reshapeBack(*this, builder);
}
LogicalResult SqueezeOp::buildGradient(GradientBuilder &builder) {
  return reshapeBack(*this, builder);
}

LogicalResult SwapAxisOp::buildGradient(GradientBuilder &builder) {
  return sendBack(*this, builder, [&](Value dy) -> Value {
    return builder.create<SwapAxisOp>(getLoc(), getData().getType(), dy, getDim1Attr(),
                                      getDim2Attr());
  });
}

LogicalResult TransposeOp::buildGradient(GradientBuilder &builder) {
  int64_t rank = rankedType(getData()).getRank();
  SmallVector<int64_t> inverse(rank);
  for (int64_t i = 0; i < rank; ++i)
    inverse[getAxes().empty() ? rank - 1 - i : normalAxis(getAxes()[i], rank)] = i;
  return sendBack(*this, builder,
                  [&](Value dy) { return createTranspose(builder, getLoc(), dy, inverse); });
}

LogicalResult ReverseOp::buildGradient(GradientBuilder &builder) {
  return sendBack(*this, builder, [&](Value dy) -> Value {
    return builder.create<ReverseOp>(getLoc(), getData().getType(), dy, getAxisAttr());
  });
}

//===---- joining and cutting -----------------------------------------------------------------===//

/// Part i of the gradient along `axis` goes to operand i, in the operand's shape.
static LogicalResult cutBack(mlir::Operation *op, GradientBuilder &builder, int64_t axis,
                             llvm::function_ref<int64_t(Value)> extentOf) {
  Value dy = builder.resultGradient(0);
  if (!dy)
    return success();
  int64_t begin = 0;
  for (Value operand : op->getOperands()) {
    int64_t end = begin + extentOf(operand);
    if (builder.wants(operand)) {
      Value part = createSliceAxis(builder, op->getLoc(), dy, axis, begin, end);
      builder.add(operand,
                  createReshape(builder, op->getLoc(), part, rankedType(operand).getShape()));
    }
    begin = end;
  }
  return success();
}

LogicalResult ConcatOp::buildGradient(GradientBuilder &builder) {
  int64_t axis = normalAxis(getDim(), rankedType(getOutput()).getRank());
  return cutBack(*this, builder, axis, [&](Value v) { return rankedType(v).getDimSize(axis); });
}
LogicalResult StackOp::buildGradient(GradientBuilder &builder) {
  int64_t axis = normalAxis(getAxis(), rankedType(getOutput()).getRank());
  return cutBack(*this, builder, axis, [](Value) { return 1; });
}
LogicalResult RnnParamConcatOp::buildGradient(GradientBuilder &builder) {
  return cutBack(*this, builder, 0, [](Value v) { return rankedType(v).getNumElements(); });
}

LogicalResult SliceChannelOp::buildGradient(GradientBuilder &builder) {
  if (!builder.wants(getData()))
    return success();
  auto type = rankedType(getData());
  int64_t axis = normalAxis(getAxis(), type.getRank());
  SmallVector<int64_t> part(type.getShape());
  part[axis] /= int64_t(getNumOutputs());
  SmallVector<Value> parts;
  for (unsigned i = 0; i < getNumResults(); ++i)
    parts.push_back(createReshape(builder, getLoc(), builder.resultGradientOrZero(i), part));
  builder.add(getData(), createConcat(builder, getLoc(), parts, axis));
  return success();
}

LogicalResult SliceAxisOp::buildGradient(GradientBuilder &builder) {
  auto type = rankedType(getData());
  int64_t axis = normalAxis(getAxis(), type.getRank());
  SmallVector<int64_t> begin(type.getRank(), 0), step(type.getRank(), 1);
  begin[axis] = normalAxis(getBegin(), type.getDimSize(axis));
  return sendBack(*this, builder, [&](Value dy) { return place(builder, *this, dy, begin, step); });
}

LogicalResult SliceOp::buildGradient(GradientBuilder &builder) {
  auto type = rankedType(getData());
  SmallVector<int64_t> begin(type.getRank(), 0), step(type.getRank(), 1);
  auto entry = [](mlir::ArrayAttr tuple, size_t i) -> std::optional<int64_t> {
    if (!tuple || i >= tuple.size())
      return std::nullopt;
    auto number = llvm::dyn_cast<mlir::IntegerAttr>(tuple[i]);
    return number ? std::optional(number.getInt()) : std::nullopt;
  };
  for (int64_t i = 0; i < type.getRank(); ++i) {
    int64_t extent = type.getDimSize(i);
    step[i] = entry(getStepAttr(), i).value_or(1);
    int64_t first = normalAxis(entry(getBegin(), i).value_or(step[i] > 0 ? 0 : extent - 1), extent);
    begin[i] = std::clamp<int64_t>(first, 0, extent - 1);
  }
  return sendBack(*this, builder, [&](Value dy) { return place(builder, *this, dy, begin, step); });
}

//===---- repetition --------------------------------------------------------------------------===//

/// dy read as `shape`, summed over `axes`, in the operand's shape.
static Value sumOver(GradientBuilder &builder, mlir::Operation *op, Value dy,
                     llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> axes) {
  Value grouped = createReshape(builder, op->getLoc(), dy, shape);
  SmallVector<int64_t> kept;
  for (auto [i, extent] : llvm::enumerate(shape))
    if (!llvm::is_contained(axes, int64_t(i)))
      kept.push_back(extent);
  Value sum = builder.create<SumOp>(op->getLoc(), rankedType(dy).clone(kept), grouped,
                                    builder.getDenseI64ArrayAttr(axes), builder.getBoolAttr(false),
                                    builder.getBoolAttr(false));
  return createReshape(builder, op->getLoc(), sum, rankedType(op->getOperand(0)).getShape());
}

LogicalResult TileOp::buildGradient(GradientBuilder &builder) {
  auto data = rankedType(getData()), result = rankedType(getOutput());
  SmallVector<int64_t> shape, axes;
  int64_t added = result.getRank() - data.getRank();
  for (int64_t i = 0; i < result.getRank(); ++i) {
    int64_t extent = i < added ? 1 : data.getDimSize(i - added);
    axes.push_back(shape.size());
    shape.push_back(result.getDimSize(i) / extent);
    shape.push_back(extent);
  }
  return sendBack(*this, builder,
                  [&](Value dy) { return sumOver(builder, *this, dy, shape, axes); });
}

LogicalResult RepeatOp::buildGradient(GradientBuilder &builder) {
  auto data = rankedType(getData());
  SmallVector<int64_t> shape;
  int64_t axis = 0;
  if (std::optional<int64_t> given = getAxis()) {
    shape.assign(data.getShape().begin(), data.getShape().end());
    axis = normalAxis(*given, data.getRank());
  } else {
    shape = {data.getNumElements()};
  }
  shape.insert(shape.begin() + axis + 1, int64_t(getRepeats()));
  return sendBack(*this, builder,
                  [&](Value dy) { return sumOver(builder, *this, dy, shape, {axis + 1}); });
}

static LogicalResult reduceBack(mlir::Operation *op, GradientBuilder &builder) {
  return sendBack(op, builder, [&](Value dy) -> Value {
    Value operand = op->getOperand(0);
    return builder.sameWhole(operand, op->getResult(0))
               ? dy
               : builder.create<ReduceToOp>(op->getLoc(), operand.getType(), dy);
  });
}
LogicalResult BroadcastToOp::buildGradient(GradientBuilder &builder) {
  return reduceBack(*this, builder);
}
LogicalResult BroadcastAxisOp::buildGradient(GradientBuilder &builder) {
  return reduceBack(*this, builder);
}

} // namespace lstmc::sym
