// Gradients, costs and checks of internal ops; their kernels are in kernels/Training.cpp.

#include "executor/abi/Gate.h"
#include "executor/abi/Sizes.h"
#include "ir/sym/Create.h"
#include "ir/sym/GradientBuilder.h"
#include "ir/sym/RuleSupport.h"
#include "ir/sym/ScalarEmitter.h"
#include "ir/sym/SymOps.h"
#include "ir/sym/gradients/SendBack.h"

namespace lstmc::sym {

//===---- rnn_layer ---------------------------------------------------------------------------===//

/// Two products per step and row; the gates' functions are left out.
static int64_t layerFlops(mlir::Value gatesLike, int64_t inputs, int64_t units) {
  return product({2, elementsOf(gatesLike), sum({inputs, units})});
}

int64_t RnnLayerOp::flops() {
  auto y = rankedType(getY()).getShape();
  return product({2, y[0], y[1], rankedType(getW()).getDimSize(0),
                  sum({rankedType(getX()).getDimSize(2), y[2]})});
}

int64_t RnnLayerGradientOp::flops() {
  int64_t units = rankedType(getR()).getDimSize(1);
  return layerFlops(getGates(), getDx() ? rankedType(getW()).getDimSize(1) : 0, units);
}

llvm::LogicalResult CutOp::buildGradient(GradientBuilder &builder) {
  if (!builder.wants(getX()))
    return llvm::success();
  llvm::SmallVector<mlir::Value> pieces;
  for (unsigned i = 0; i < getNumResults(); ++i)
    pieces.push_back(builder.resultGradientOrZero(i));
  builder.add(getX(), createConcat(builder, getLoc(), pieces, 0));
  return llvm::success();
}

//===---- parts of the batch ------------------------------------------------------------------===//

/// The gradient of the rows of a part is the incoming gradient of these rows.
llvm::LogicalResult AllRowsOp::buildGradient(GradientBuilder &builder) {
  return sendBack(*this, builder, [&](mlir::Value dy) -> mlir::Value {
    return builder.create<OwnRowsOp>(getLoc(), getX().getType(), dy, getAxisAttr(), getOuterAttr(),
                                     getBatchAttr(), getInnerAttr());
  });
}
llvm::LogicalResult OwnRowsOp::buildGradient(GradientBuilder &builder) {
  return sendBack(*this, builder, [&](mlir::Value dy) -> mlir::Value {
    return builder.create<AllRowsOp>(getLoc(), getX().getType(), dy, getAxisAttr(), getOuterAttr(),
                                     getBatchAttr(), getInnerAttr());
  });
}

//===---- rnn_layer, verified -----------------------------------------------------------------===//

llvm::LogicalResult RnnLayerOp::verify() {
  std::optional<RnnMode> mode = parseRnnMode(getMode());
  if (!mode)
    return emitOpError("mode \"") << getMode() << "\" is none of rnn_relu, rnn_tanh, lstm, gru";
  int64_t gates = gateCount(*mode);
  auto x = rankedType(getX()).getShape(), y = rankedType(getY()).getShape(),
       w = rankedType(getW()).getShape(), r = rankedType(getR()).getShape();
  if (x.size() != 3 || y.size() != 3 || x[0] != y[0] || x[1] != y[1])
    return emitOpError("y has other steps or sequences than x");
  if (w.size() != 2 || w[0] != gates * y[2] || w[1] != x[2])
    return emitOpError("w is not [") << gates * y[2] << ", " << x[2] << "]";
  if (r.size() != 2 || r[0] != gates * y[2] || r[1] != y[2])
    return emitOpError("r is not [") << gates * y[2] << ", " << y[2] << "]";
  if (bool(getC0()) && getMode() != "lstm")
    return emitOpError("has a cell state but is no lstm");
  return llvm::success();
}

//===---- sums by shard -----------------------------------------------------------------------===//

llvm::LogicalResult verifyShardSum(mlir::Operation *op, const ShardRange &range) {
  if (range.batch < 1 || range.shards < 1)
    return op->emitOpError("sums a batch of ")
           << range.batch << " rows in " << range.shards << " shards";
  if (range.first < 0 || range.count < 1 || range.count > range.shards - range.first)
    return op->emitOpError("sums shards from ")
           << range.first << " on, " << range.count << " of them, of " << range.shards;
  if (range.rows() == 0)
    return op->emitOpError("sums shards without rows");
  return llvm::success();
}

/// Checks that a sum can continue `begin`.
template <typename Op> static llvm::LogicalResult verifyBegin(Op op, mlir::Value result) {
  if (!op.getBegin())
    return llvm::success();
  if (op.getBegin().getType() != result.getType())
    return op.emitOpError("continues a sum of ")
           << op.getBegin().getType() << " with " << result.getType();
  // weight_gradient:begin:one-shard
  if (op.range().count != 1)
    return op.emitOpError("continues a sum, so it must sum one shard, not ") << op.range().count;
  return llvm::success();
}
llvm::LogicalResult WeightGradientOp::verify() { return verifyBegin(*this, getDw()); }
llvm::LogicalResult BiasGradientOp::verify() { return verifyBegin(*this, getDb()); }

int64_t WeightGradientOp::flops() {
  int64_t flops = 0;
  for (auto [dy, x, kind] : llvm::zip_equal(getDys(), getXs(), getKinds())) {
    int64_t each = kind == 1 ? 1 : product({2, rankedType(x).getShape().back()});
    flops = sum({flops, product({elementsOf(dy), each})});
  }
  return flops;
}

int64_t BiasGradientOp::flops() { return sum(llvm::map_to_vector(getDys(), elementsOf)); }

//===---- dropout_mask ------------------------------------------------------------------------===//

/// uniform >= p keeps an element, as 1 / (1 - p); or 2 * uniform.
mlir::Value DropoutMaskOp::emitScalar(mlir::OpBuilder &builder, mlir::ValueRange element) {
  ScalarEmitter e(builder, getLoc());
  mlir::Type type = rankedType(getMask()).getElementType();
  double p = getP().convertToDouble();
  mlir::Value uniform = builder.create<ApplyScalarOp>(getLoc(), type, lstmc::ScalarOp::Uniform,
                                                      element, double(getOrdinal()));
  if (getNumbers())
    return e.mul(uniform, e.number(type, 2));
  mlir::Value kept = e.apply(lstmc::ScalarOp::GreaterEqual, {uniform, e.number(type, p)});
  return e.apply(lstmc::ScalarOp::Select, {kept, e.number(type, 1 / (1 - p)), e.number(type, 0)});
}

} // namespace lstmc::sym
