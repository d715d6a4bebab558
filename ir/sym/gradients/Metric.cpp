// What loss heads measure (f64 [4], as the metric kernels say), and their values without a label.

#include "ir/sym/Create.h"
#include "ir/sym/Diagnose.h"
#include "ir/sym/RuleSupport.h"

using namespace mlir;

namespace lstmc::sym {

namespace {
/// Rows of the batch inside rows of a tensor: [outer, batch, inner]. Without a batch everything is
/// `outer`.
struct Rows {
  int64_t outer, batch = 1, inner = 1;
  Rows(ArrayRef<int64_t> extents, BatchPosition position) : outer(product(extents)) {
    if (!position)
      return;
    outer = product(extents.take_front(position.axis)) * position.outer;
    batch = position.batch;
    inner = product(extents.drop_front(position.axis + 1)) * position.inner;
  }
};
} // namespace

/// `x` holds logits with its classes at `axis`, `label` a class for each row.
static Value softmaxMetric(OpBuilder &builder, Location loc, Value x, Value label, int64_t axis,
                           int64_t shards, BatchPosition batch, bool useIgnore,
                           double ignoreLabel) {
  SmallVector<int64_t> rowExtents(shapeOf(x));
  rowExtents.erase(rowExtents.begin() + axis);
  batch = withoutAxes(batch, {axis}, false);
  if (!batch)
    shards = 1; // rows of the batch are classes, if anything: there is nothing to share out
  Rows rows(rowExtents, batch);
  label = createReshape(builder, loc, label, rowExtents);
  auto type = RankedTensorType::get({4}, builder.getF64Type());
  return builder.create<SoftmaxMetricOp>(loc, type, x, label, axis, rows.outer, rows.batch,
                                         rows.inner, shards, useIgnore, llvm::APFloat(ignoreLabel));
}

Value SoftmaxOutputOp::buildMetric(OpBuilder &builder, int64_t shards, BatchPosition batch) {
  Value x = getData(), label = getLabel();
  int64_t rank = rankOf(x), axis = getPreserveShape() ? rank - 1 : 1;
  if (!getMultiOutput() && !getPreserveShape() && rank > 2) { // all axes but the first are one
    SmallVector<int64_t> rows = {shapeOf(x)[0], product(shapeOf(x).drop_front())};
    batch = reshaped(batch, shapeOf(x), rows);
    x = createReshape(builder, getLoc(), x, rows);
  }
  if (elementsOf(label) == elementsOf(x)) {
    // Labels that are probabilities: the class is the likeliest one.
    label = createReshape(builder, getLoc(), label, shapeOf(x));
    SmallVector<int64_t> rows(shapeOf(x));
    rows.erase(rows.begin() + axis);
    auto type = RankedTensorType::get(rows, rankedType(label).getElementType());
    label = builder.create<ArgmaxOp>(getLoc(), type, label, builder.getI64IntegerAttr(axis),
                                     builder.getBoolAttr(false));
  }
  return softmaxMetric(builder, getLoc(), x, label, axis, shards, batch, getUseIgnore(),
                       getIgnoreLabel().convertToDouble());
}

Value SoftmaxCrossEntropyOp::buildMetric(OpBuilder &builder, int64_t shards, BatchPosition batch) {
  return softmaxMetric(builder, getLoc(), getData(), getLabel(), 1, shards, batch, false, -1);
}

static Value regressionMetric(OpBuilder &builder, Location loc, Value x, Value label,
                              int64_t shards, BatchPosition batch, bool logistic) {
  Rows rows(shapeOf(x), batch);
  label = createCast(builder, loc, label, rankedType(x).getElementType());
  label = createReshape(builder, loc, label, shapeOf(x));
  auto type = RankedTensorType::get({4}, builder.getF64Type());
  return builder.create<RegressionMetricOp>(loc, type, x, label, rows.outer, rows.batch, rows.inner,
                                            shards, logistic);
}

Value LinearRegressionOutputOp::buildMetric(OpBuilder &builder, int64_t shards,
                                            BatchPosition batch) {
  return regressionMetric(builder, getLoc(), getData(), getLabel(), shards, batch, false);
}
Value MaeRegressionOutputOp::buildMetric(OpBuilder &builder, int64_t shards, BatchPosition batch) {
  return regressionMetric(builder, getLoc(), getData(), getLabel(), shards, batch, false);
}
Value LogisticRegressionOutputOp::buildMetric(OpBuilder &builder, int64_t shards,
                                              BatchPosition batch) {
  return regressionMetric(builder, getLoc(), getData(), getLabel(), shards, batch, true);
}

Value MakeLossOp::buildMetric(OpBuilder &builder, int64_t shards, BatchPosition batch) {
  Rows rows(shapeOf(getData()), batch);
  auto type = RankedTensorType::get({4}, builder.getF64Type());
  return builder.create<LossMetricOp>(getLoc(), type, getData(), rows.outer, rows.batch, rows.inner,
                                      shards);
}

Value SoftmaxOutputOp::buildValue(OpBuilder &builder) {
  Value x = getData();
  int64_t rank = rankOf(x), axis = getPreserveShape() ? rank - 1 : 1;
  if (!getMultiOutput() && !getPreserveShape()) // all axes but the first are one
    x = createReshape(builder, getLoc(), x, {shapeOf(x)[0], product(shapeOf(x).drop_front())});
  Value p =
      builder.create<SoftmaxOp>(getLoc(), x.getType(), x, Value(), builder.getI64IntegerAttr(axis),
                                FloatAttr(), StringAttr(), builder.getBoolAttr(false));
  return createReshape(builder, getLoc(), p, shapeOf(getOutput()));
}
Value LinearRegressionOutputOp::buildValue(OpBuilder &) { return getData(); }
Value MaeRegressionOutputOp::buildValue(OpBuilder &) { return getData(); }
Value LogisticRegressionOutputOp::buildValue(OpBuilder &builder) {
  return builder.create<SigmoidOp>(getLoc(), getData().getType(), getData());
}
Value MakeLossOp::buildValue(OpBuilder &) { return getData(); }
Value SoftmaxCrossEntropyOp::buildValue(OpBuilder &) { return {}; }

} // namespace lstmc::sym
