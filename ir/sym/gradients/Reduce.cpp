// Gradients of reductions and normalisations.

#include "ir/sym/Create.h"
#include "ir/sym/gradients/Expression.h"

namespace lstmc::sym {

using llvm::LogicalResult;
using llvm::success;
using mlir::Value;
using E = Expression;

/// A reduction's result (or its gradient) broadcast back over the reduced axes.
static E stretched(GradientBuilder &builder, mlir::Operation *op, Value reduced,
                   llvm::ArrayRef<int64_t> axes) {
  Value data = op->getOperand(0);
  llvm::SmallVector<int64_t> kept(rankedType(data).getShape()), whole = builder.wholeShape(data);
  bool several = false;
  for (int64_t axis : axes) {
    kept[axis] = 1;
    several |= whole[axis] != 1;
  }
  Value wide = createReshape(builder, op->getLoc(), reduced, kept);
  return {several ? broadcastLike(builder, op->getLoc(), wide, data) : wide, &builder};
}

/// The reduced axes: `axis`; with `exclude` all others; all if `axis` is not given.
static llvm::SmallVector<int64_t>
reducedAxes(Value data, std::optional<llvm::ArrayRef<int64_t>> given, bool exclude) {
  int64_t rank = rankedType(data).getRank();
  llvm::SmallVector<int64_t> axes;
  for (int64_t i = 0; i < rank; ++i) {
    bool named =
        given && llvm::any_of(*given, [&](int64_t axis) { return normalAxis(axis, rank) == i; });
    bool all = !given || given->empty();
    if (all || named != exclude)
      axes.push_back(i);
  }
  return axes;
}

/// Contributes formula(x, y, dy), with y and dy broadcast to the shape of x.
template <typename Op, typename Formula>
static LogicalResult reduction(Op op, GradientBuilder &builder, bool exclude, Formula formula) {
  Value dy = builder.resultGradient(0);
  if (!dy || !builder.wants(op.getData()))
    return success();
  llvm::SmallVector<int64_t> axes = reducedAxes(op.getData(), op.getAxis(), exclude);
  int64_t count = 1;
  for (llvm::SmallVector<int64_t> whole = builder.wholeShape(op.getData()); int64_t axis : axes)
    count *= whole[axis];
  builder.add(op.getData(), formula(
                                E{op.getData(), &builder},
                                [&] { return stretched(builder, op, op.getOutput(), axes); },
                                stretched(builder, op, dy, axes), count)
                                .value);
  return success();
}

#define LSTMC_REDUCTION(OP, EXCLUDE, FORMULA)                                                      \
  LogicalResult OP::buildGradient(GradientBuilder &builder) {                                      \
    return reduction(*this, builder, EXCLUDE,                                                      \
                     []([[maybe_unused]] E x, [[maybe_unused]] auto y, E dy,                       \
                        [[maybe_unused]] int64_t count) { return FORMULA; });                      \
  }

LSTMC_REDUCTION(SumOp, getExclude(), dy)
LSTMC_REDUCTION(MeanOp, getExclude(), dy / double(count))
LSTMC_REDUCTION(MaxOp, getExclude(), dy *x.with<EqualOp>(y()))
LSTMC_REDUCTION(MinOp, getExclude(), dy *x.with<EqualOp>(y()))
LSTMC_REDUCTION(ProdOp, getExclude(), dy *(y() / x))
LSTMC_REDUCTION(NormOp, false, dy *(x / y()))

template <typename Op>
static LogicalResult softmaxGradient(Op op, GradientBuilder &builder, bool log) {
  Value dy = builder.resultGradient(0);
  if (!dy || !builder.wants(op.getData()))
    return success();
  auto temperature = op.getTemperature();
  builder.add(
      op.getData(),
      builder.create<SoftmaxGradientOp>(
          op.getLoc(), op.getData().getType(), op.getOutput(), dy, op.getLength(),
          builder.getI64IntegerAttr(normalAxis(op.getAxis(), rankedType(op.getData()).getRank())),
          builder.getBoolAttr(log),
          builder.getF64FloatAttr(temperature ? temperature->convertToDouble() : 1.0)));
  return success();
}
LogicalResult SoftmaxOp::buildGradient(GradientBuilder &builder) {
  return softmaxGradient(*this, builder, false);
}
LogicalResult LogSoftmaxOp::buildGradient(GradientBuilder &builder) {
  return softmaxGradient(*this, builder, true);
}

LogicalResult LayerNormOp::buildGradient(GradientBuilder &builder) {
  Value dy = builder.resultGradient(0);
  if (!dy)
    return success();
  auto type = rankedType(getData());
  int64_t axis = normalAxis(getAxis(), type.getRank());
  auto gradient =
      builder.create<LayerNormGradientOp>(getLoc(), type, type, getData(), getGamma(), getMean(),
                                          getRstd(), dy, builder.getI64IntegerAttr(axis));
  builder.add(getData(), gradient.getDx());
  if (BatchPosition rows = builder.batch(getOutput());
      !rows || rows.axis < axis) { // moving `axis` last leaves the rows in place
    llvm::SmallVector<int64_t> last = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
    last.erase(last.begin() + axis);
    last.push_back(axis);
    auto moved = [&](Value value) {
      return axis == type.getRank() - 1 ? value : createTranspose(builder, getLoc(), value, last);
    };
    builder.addBiasUse(getGamma(), moved(gradient.getDgammaRows()));
    builder.addBiasUse(getBeta(), moved(dy));
    return success();
  }
  auto sum = [&](Value parameter, Value rows) {
    if (builder.wants(parameter))
      builder.add(parameter,
                  builder.create<SumOp>(getLoc(), parameter.getType(), rows,
                                        builder.getDenseI64ArrayAttr({axis}),
                                        builder.getBoolAttr(false), builder.getBoolAttr(true)));
  };
  sum(getGamma(), gradient.getDgammaRows());
  sum(getBeta(), dy);
  return success();
}

} // namespace lstmc::sym
