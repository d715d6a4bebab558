// Gradients of products. A factor that does not depend on the batch is a weight; its gradient is a
// sum by shard.

#include "ir/sym/Create.h"
#include "ir/sym/GradientBuilder.h"
#include "ir/sym/SymOps.h"

namespace lstmc::sym {

using llvm::LogicalResult;
using llvm::success;
using mlir::Value;

static Value product(GradientBuilder &builder, mlir::Location loc, llvm::ArrayRef<int64_t> shape,
                     Value a, bool transposeA, Value b, bool transposeB) {
  return builder.create<DotOp>(loc, rankedType(a).clone(shape), a, b,
                               builder.getBoolAttr(transposeA), builder.getBoolAttr(transposeB));
}

LogicalResult FullyConnectedOp::buildGradient(GradientBuilder &builder) {
  Value dy = builder.resultGradient(0);
  if (!dy)
    return success();
  auto data = rankedType(getData());
  Value x = getData();
  if (getFlatten())
    x = createReshape(builder, getLoc(), x,
                      {data.getDimSize(0), data.getNumElements() / data.getDimSize(0)});
  if (builder.wants(getData())) {
    Value dx = product(builder, getLoc(), rankedType(x).getShape(), dy, false, getWeight(), false);
    builder.add(getData(), createReshape(builder, getLoc(), dx, data.getShape()));
  }
  builder.addProductUse(getWeight(), dy, x);
  if (getBias())
    builder.addBiasUse(getBias(), dy);
  return success();
}

/// Whether rhs is a matrix by which rows of lhs are multiplied.
static bool multipliesRows(DotOp op) {
  return !op.getTransposeA() && rankedType(op.getRhs()).getRank() == 2;
}

bool DotOp::sumsRows(unsigned operand) { return operand == 0 || !multipliesRows(*this); }

LogicalResult DotOp::buildGradient(GradientBuilder &builder) {
  Value dy = builder.resultGradient(0);
  if (!dy)
    return success();
  auto lhs = rankedType(getLhs()), rhs = rankedType(getRhs());
  bool ta = getTransposeA(), tb = getTransposeB();
  // As matrices: lhs [M, K] ([K, M] if transposed), rhs [K, N] ([N, K]), dy [M, N].
  int64_t inner = ta ? lhs.getShape().front() : lhs.getShape().back();
  int64_t m = lhs.getNumElements() / inner, n = rhs.getNumElements() / inner;
  auto matrix = [&](Value v, bool transposed, int64_t rows, int64_t columns) {
    return createReshape(builder, getLoc(), v,
                         transposed ? llvm::ArrayRef<int64_t>{columns, rows}
                                    : llvm::ArrayRef<int64_t>{rows, columns});
  };
  Value a = matrix(getLhs(), ta, m, inner), b = matrix(getRhs(), tb, inner, n),
        flow = matrix(dy, false, m, n);
  auto shapeOf = [](Value v) { return rankedType(v).getShape(); };
  if (builder.wants(getLhs())) {
    Value da = ta ? product(builder, getLoc(), shapeOf(a), b, tb, flow, true)
                  : product(builder, getLoc(), shapeOf(a), flow, false, b, !tb);
    builder.add(getLhs(), createReshape(builder, getLoc(), da, lhs.getShape()));
  }
  if (!builder.wants(getRhs()))
    return success();
  // A matrix by which all rows of the batch are multiplied.
  if (multipliesRows(*this) && !builder.batch(getRhs())) {
    if (tb)
      builder.addProductUse(getRhs(), dy, getLhs());
    else
      builder.addProductUse(getRhs(), getLhs(), dy);
    return success();
  }
  Value db = tb ? product(builder, getLoc(), shapeOf(b), flow, true, a, ta)
                : product(builder, getLoc(), shapeOf(b), a, !ta, flow, false);
  builder.add(getRhs(), createReshape(builder, getLoc(), db, rhs.getShape()));
  return success();
}

LogicalResult BatchDotOp::buildGradient(GradientBuilder &builder) {
  Value dy = builder.resultGradient(0);
  if (!dy)
    return success();
  bool ta = getTransposeA(), tb = getTransposeB();
  auto make = [&](Value like, Value a, bool transposeA, Value b, bool transposeB) -> Value {
    return builder.create<BatchDotOp>(getLoc(), like.getType(), a, b,
                                      builder.getBoolAttr(transposeA),
                                      builder.getBoolAttr(transposeB));
  };
  if (builder.wants(getLhs()))
    builder.add(getLhs(), ta ? make(getLhs(), getRhs(), tb, dy, true)
                             : make(getLhs(), dy, false, getRhs(), !tb));
  if (builder.wants(getRhs()))
    builder.add(getRhs(), tb ? make(getRhs(), dy, true, getLhs(), ta)
                             : make(getRhs(), getLhs(), !ta, dy, false));
  return success();
}

} // namespace lstmc::sym
