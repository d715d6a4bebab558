// Gradient of a recurrent layer: one op through time, and sums over its steps.

#include "executor/abi/Gate.h"
#include "ir/sym/Create.h"
#include "ir/sym/GradientBuilder.h"
#include "ir/sym/SymOps.h"

namespace lstmc::sym {

using llvm::LogicalResult;
using llvm::success;
using mlir::Value;

/// Whether steps of x [T, B, I] at or beyond the length are 0 already.
static bool isZeroBeyond(Value x, Value length) {
  mlir::Operation *maker = x.getDefiningOp();
  if (auto layer = llvm::dyn_cast_or_null<RnnLayerOp>(maker))
    return x == layer.getY() && layer.getLength() == length;
  if (auto concat = llvm::dyn_cast_or_null<ConcatOp>(maker))
    return concat.getDim() != 0 && llvm::all_of(concat.getOperands(), [&](Value part) {
             return isZeroBeyond(part, length);
           });
  if (auto product = llvm::dyn_cast_or_null<ElemwiseMulOp>(maker)) // dropout
    return product.getRhs().getDefiningOp<DropoutMaskOp>() &&
           isZeroBeyond(product.getLhs(), length);
  return false;
}

/// The operand x for a sum over all steps. The layer does not read steps beyond the length, so
/// these may be NaN, and NaN times the gradient 0 would be NaN.
static Value stepsOf(GradientBuilder &builder, RnnLayerOp layer) {
  Value x = layer.getX(), length = layer.getLength();
  if (!length || isZeroBeyond(x, length))
    return x;
  return builder.create<SequenceMaskOp>(layer.getLoc(), x.getType(), x, length,
                                        builder.getBoolAttr(true), builder.getF64FloatAttr(0),
                                        builder.getI64IntegerAttr(0));
}

LogicalResult RnnOp::buildGradient(GradientBuilder &) {
  return emitOpError("is differentiated layer by layer: unpack-rnn comes before gradient");
}

LogicalResult RnnLayerOp::buildGradient(GradientBuilder &builder) {
  if (!getGates())
    return emitOpError("keeps nothing for backward: it stands in an entry that does not train");
  Value dy = builder.resultGradient(0), dhN = builder.resultGradient(1);
  Value dcN = getCN() ? builder.resultGradient(2) : Value();
  bool gru = parseRnnMode(getMode()) == RnnMode::Gru;
  auto typeIf = [](bool wanted, Value like) { return wanted ? like.getType() : mlir::Type(); };
  auto gradient = builder.create<RnnLayerGradientOp>(
      getLoc(), getGates().getType(), typeIf(gru, getGates()),
      typeIf(builder.wants(getX()), getX()), typeIf(getH0() && builder.wants(getH0()), getH0()),
      typeIf(getC0() && builder.wants(getC0()), getC0()), getGates(), getCells(), getY(), getH0(),
      getC0(), getLength(), getBefore(), getW(), getR(), dy, dhN, dcN, getModeAttr(),
      getReverseAttr(), mlir::IntegerAttr());
  if (gradient.getDx())
    builder.add(getX(), gradient.getDx());
  if (gradient.getDh0())
    builder.add(getH0(), gradient.getDh0());
  if (gradient.getDc0())
    builder.add(getC0(), gradient.getDc0());

  Value dgates = gradient.getDgates(), dhidden = gru ? gradient.getDhidden() : dgates;
  builder.addProductUse(getW(), dgates, builder.wants(getW()) ? stepsOf(builder, *this) : getX());
  if (getBefore())
    builder.addProductUse(getR(), dhidden, getBefore());
  else
    builder.addRecurrentUse(getR(), dhidden, getY(), getH0(), getReverse());
  if (getBi())
    builder.addBiasUse(getBi(), dgates);
  if (getBh())
    builder.addBiasUse(getBh(), dhidden);
  return success();
}

} // namespace lstmc::sym
