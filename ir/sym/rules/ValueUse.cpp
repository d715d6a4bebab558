// Operands that ops read as indices, values that they only move, and the rows of metrics.
#include "ir/sym/ValueUse.h"

#include "ir/sym/Create.h"
#include "ir/sym/RuleSupport.h"
#include "ir/sym/Window.h"

#include "ir/sym/ValueUse.cpp.inc"

using namespace mlir;

namespace lstmc::sym {

namespace {

using Range = std::optional<ValueRange>;
using Part = std::optional<MovedPart>;

/// The positions 0 to count - 1.
ValueRange positions(int64_t count) { return {0, count - 1, std::nullopt}; }
/// The valid lengths of rows with this many steps.
ValueRange lengths(int64_t least, int64_t steps) { return {least, steps, std::nullopt}; }

int64_t extentAt(Value value, int64_t axis) {
  return shapeOf(value)[size_t(normalAxis(axis, rankOf(value)))];
}

//===---- positions ---------------------------------------------------------------------------===//

Range positionsIn(EmbeddingOp op, unsigned index) {
  return index == 0 ? Range(positions(int64_t(op.getInputDim()))) : std::nullopt;
}
Range positionsIn(TakeOp op, unsigned index) {
  return index == 1 && op.getMode() != "wrap" ? Range(positions(extentAt(op.getA(), op.getAxis())))
                                              : std::nullopt;
}
Range positionsIn(PickOp op, unsigned index) {
  return index == 1 && op.getMode() != "wrap"
             ? Range(positions(extentAt(op.getData(), op.getAxis())))
             : std::nullopt;
}
Range positionsIn(OneHotOp op, unsigned) { return positions(int64_t(op.getDepth())); }

/// A label holds classes; one with the size of the data holds probabilities.
Range positionsIn(SoftmaxOutputOp op, unsigned index) {
  if (index != 1 || op.holdsProbabilities())
    return std::nullopt;
  ArrayRef<int64_t> shape = shapeOf(op.getData());
  ValueRange range = positions(op.getMultiOutput()     ? shape[1]
                               : op.getPreserveShape() ? shape.back()
                                                       : product(shape.drop_front()));
  if (op.getUseIgnore())
    range.ignored = int64_t(op.getIgnoreLabel().convertToDouble());
  return range;
}
Range positionsIn(SoftmaxCrossEntropyOp op, unsigned index) {
  return index == 1 ? Range(positions(shapeOf(op.getData())[1])) : std::nullopt;
}

Range positionsIn(SvmOutputOp op, unsigned index) {
  return index == 1 ? Range(positions(shapeOf(op.getData())[1])) : std::nullopt;
}

/// SequenceReverse and SequenceMask accept an empty sequence; SequenceLast does not, as it has no
/// last step.
Range positionsIn(SequenceMaskOp op, unsigned index) {
  return index == 1 ? Range(lengths(0, extentAt(op.getData(), op.getAxis()))) : std::nullopt;
}
Range positionsIn(SequenceLastOp op, unsigned index) {
  return index == 1 ? Range(lengths(1, extentAt(op.getData(), op.getAxis()))) : std::nullopt;
}
Range positionsIn(SequenceReverseOp op, unsigned index) {
  return index == 1 ? Range(lengths(0, shapeOf(op.getData())[0])) : std::nullopt;
}
Range positionsIn(RnnOp op, unsigned index) {
  bool length = index > 0 && op->getOperand(index) == op.getSequenceLength();
  return length ? Range(lengths(0, shapeOf(op.getData())[0])) : std::nullopt;
}
Range positionsIn(SoftmaxOp op, unsigned index) {
  return index == 1 ? Range(lengths(0, extentAt(op.getData(), op.getAxis()))) : std::nullopt;
}
Range positionsIn(LogSoftmaxOp op, unsigned index) {
  return index == 1 ? Range(lengths(0, extentAt(op.getData(), op.getAxis()))) : std::nullopt;
}

template <typename Op> struct IndexModel : IndexRule::ExternalModel<IndexModel<Op>, Op> {
  Range positionsOf(Operation *op, unsigned index) const {
    return positionsIn(cast<Op>(op), index);
  }
};

//===---- movement ----------------------------------------------------------------------------===//

template <typename Op> Part partOf(Op, unsigned) { return MovedPart(); }

/// A cast moves numbers unchanged, up to a fraction that it cuts off.
Part partOf(CastOp op, unsigned) {
  return op.getDtype() == "bool" ? std::nullopt : Part(MovedPart());
}
/// A window on at most one axis, with step 1.
Part partOf(SliceOp op, unsigned) {
  MovedPart part;
  ArrayRef<int64_t> shape = shapeOf(op.getData());
  for (auto [axis, window] : llvm::enumerate(windowsOf(op, shape))) {
    if (window.size == shape[axis])
      continue;
    if (part.axis >= 0 || window.step != 1)
      return std::nullopt;
    part = {int64_t(axis), window.begin, window.begin + window.size};
  }
  return part;
}
Part partOf(SliceAxisOp op, unsigned) {
  Window window = windowOf(op, extentAt(op.getData(), int64_t(op.getAxis())));
  return MovedPart{normalAxis(int64_t(op.getAxis()), rankOf(op.getData())), window.begin,
                   window.begin + window.size};
}
Part partOf(SliceChannelOp op, unsigned result) {
  int64_t size = extentAt(op.getData(), op.getAxis()) / int64_t(op.getNumOutputs());
  return MovedPart{normalAxis(op.getAxis(), rankOf(op.getData())), int64_t(result) * size,
                   (int64_t(result) + 1) * size};
}

template <typename Op> struct MovementModel : MovementRule::ExternalModel<MovementModel<Op>, Op> {
  Part movedPart(Operation *op, unsigned, unsigned result) const {
    return partOf(cast<Op>(op), result);
  }
};

//===---- rows of measures --------------------------------------------------------------------===//

/// A metric has a value per row, [batch, fields], or is summed over all rows.
template <typename Op> struct MetricRows : BatchRule::ExternalModel<MetricRows<Op>, Op> {
  BatchPosition batchOfResult(Operation *op, unsigned, ArrayRef<BatchPosition>) const {
    auto batch = int64_t(cast<Op>(op).getBatch());
    return rankOf(op->getResult(0)) == 2 ? BatchPosition{0, 1, batch, 1} : BatchPosition::none();
  }
};

template <template <typename> typename Model, typename... Ops> void attach(MLIRContext &context) {
  (Ops::template attachInterface<Model<Ops>>(context), ...);
}

} // namespace

void attachValueUse(MLIRContext &context) {
  attach<IndexModel, EmbeddingOp, TakeOp, PickOp, OneHotOp, SoftmaxOutputOp, SoftmaxCrossEntropyOp,
         SvmOutputOp, SequenceMaskOp, SequenceLastOp, SequenceReverseOp, RnnOp, SoftmaxOp,
         LogSoftmaxOp>(context);
  attach<MovementModel, ReshapeOp, FlattenOp, SwapAxisOp, TransposeOp, ExpandDimsOp, SqueezeOp,
         ConcatOp, StackOp, SliceChannelOp, SliceOp, SliceAxisOp, ReverseOp, TileOp, RepeatOp,
         BroadcastToOp, BroadcastAxisOp, CopyOp, BlockGradOp, CastOp>(context);
  attach<MetricRows, SoftmaxMetricOp, RegressionMetricOp, LossMetricOp>(context);
}

} // namespace lstmc::sym
