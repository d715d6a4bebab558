#include "passes/rolling/StepInput.h"

#include "ir/sym/Create.h"
#include "ir/sym/SymOps.h"

namespace lstmc::passes {

using mlir::Operation;
using mlir::Value;

namespace {

/// `width` elements from `begin` on, along `axis` of `source`.
struct Window {
  Value source;
  int64_t axis, begin, width;
  llvm::SmallVector<Operation *, 2> makers;
};

std::optional<Window> windowOf(Value value) {
  Window window{};
  Operation *op = value.getDefiningOp();
  for (;
       llvm::isa_and_present<sym::ReshapeOp, sym::SqueezeOp, sym::FlattenOp, sym::ExpandDimsOp>(op);
       op = value.getDefiningOp()) {
    window.makers.push_back(op);
    value = op->getOperand(0);
  }
  if (auto cut = llvm::dyn_cast_or_null<sym::SliceChannelOp>(op)) {
    auto type = sym::rankedType(cut.getData());
    window.source = cut.getData();
    window.axis = sym::normalAxis(cut.getAxis(), type.getRank());
    window.width = type.getDimSize(unsigned(window.axis)) / int64_t(cut.getNumOutputs());
    window.begin = int64_t(llvm::cast<mlir::OpResult>(value).getResultNumber()) * window.width;
  } else if (auto slice = llvm::dyn_cast_or_null<sym::SliceAxisOp>(op)) {
    auto type = sym::rankedType(slice.getData());
    window.source = slice.getData();
    window.axis = sym::normalAxis(slice.getAxis(), type.getRank());
    window.width = sym::rankedType(slice).getDimSize(unsigned(window.axis));
    window.begin = sym::normalAxis(slice.getBegin(), type.getDimSize(unsigned(window.axis)));
  } else {
    return std::nullopt;
  }
  window.makers.push_back(op);
  return window;
}

/// Whether the window's elements, in order, form a matrix [rows, inputs], and the next window is
/// the next step.
bool isStep(const Window &window, int64_t rows, int64_t inputs) {
  auto shape = sym::rankedType(window.source).getShape();
  if (window.begin % window.width != 0)
    return false;
  if (shape.size() == 2)
    return window.axis == 1 && shape[0] == rows && window.width == inputs;
  return shape.size() == 3 && window.axis < 2 && window.width == 1 &&
         shape[size_t(1 - window.axis)] == rows && shape[2] == inputs;
}

} // namespace

std::pair<int64_t, int64_t> matrixOf(Value value) {
  auto type = sym::rankedType(value);
  const int64_t rows = type.getDimSize(0);
  return {rows, rows == 0 ? 0 : type.getNumElements() / rows};
}

std::optional<StepSlices> slicesOf(llvm::ArrayRef<Value> values) {
  StepSlices slices;
  slices.steps = int64_t(values.size());
  int64_t stride = 0, last = 0, lastFirst = 0;
  for (auto [t, value] : llvm::enumerate(values)) {
    auto [rows, inputs] = matrixOf(value);
    std::optional<Window> window = windowOf(value);
    if (!window || !isStep(*window, rows, inputs))
      return std::nullopt;
    const int64_t number = window->begin / window->width;
    if (t == 0) {
      slices.source = window->source;
      slices.axis = window->axis;
      slices.width = window->width;
      lastFirst = number;
    } else if (t == 1) {
      stride = number - last;
    }
    if (window->source != slices.source || window->axis != slices.axis ||
        window->width != slices.width ||
        (t > 0 && (number - last != stride || (stride != 1 && stride != -1))))
      return std::nullopt;
    last = number;
    slices.makers.push_back(std::move(window->makers));
  }
  slices.reversed = stride < 0;
  slices.first = std::min(lastFirst, last);
  return slices;
}

Value StepSlices::build(mlir::OpBuilder &builder, mlir::Location loc, int64_t rows) const {
  auto type = sym::rankedType(source);
  const bool columns = type.getRank() == 2;
  const int64_t extent = type.getDimSize(unsigned(axis));
  Value x = source;
  if (steps * width != extent)
    x = sym::createSliceAxis(builder, loc, x, axis, first * width, (first + steps) * width);
  if (columns)
    x = builder.create<sym::ReshapeOp>(loc, type.clone({rows, steps, width}), x,
                                       llvm::ArrayRef<int64_t>{0, steps, -1});
  auto shape = sym::rankedType(x).getShape();
  if (axis == 1)
    x = builder.create<sym::SwapAxisOp>(loc, type.clone({shape[1], shape[0], shape[2]}), x,
                                        builder.getI64IntegerAttr(0), builder.getI64IntegerAttr(1));
  if (reversed)
    x = builder.create<sym::ReverseOp>(loc, x.getType(), x, builder.getDenseI64ArrayAttr({0}));
  return x;
}

} // namespace lstmc::passes
