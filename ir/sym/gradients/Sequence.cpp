// Gradients of ops with sequence lengths.

#include "ir/sym/Create.h"
#include "ir/sym/GradientBuilder.h"
#include "ir/sym/SymOps.h"
#include "ir/sym/gradients/SendBack.h"

namespace lstmc::sym {

using llvm::LogicalResult;
using llvm::SmallVector;
using mlir::Value;

LogicalResult SequenceMaskOp::buildGradient(GradientBuilder &builder) {
  return sendBack(*this, builder, [&](Value dy) -> Value {
    if (!getSequenceLength())
      return dy;
    return builder.create<SequenceMaskOp>(getLoc(), dy.getType(), dy, getSequenceLength(),
                                          getUseSequenceLengthAttr(), builder.getF64FloatAttr(0),
                                          getAxisAttr());
  });
}

LogicalResult SequenceLastOp::buildGradient(GradientBuilder &builder) {
  return sendBack(*this, builder, [&](Value dy) -> Value {
    auto type = rankedType(getData());
    if (getSequenceLength())
      return builder.create<SequenceLastGradientOp>(getLoc(), type, dy, getSequenceLength(),
                                                    getAxisAttr());
    SmallVector<int64_t> shape(type.getShape()), begin(type.getRank(), 0), step(type.getRank(), 1);
    begin[getAxis()] = shape[getAxis()] - 1;
    shape[getAxis()] = 1;
    return place(builder, *this, createReshape(builder, getLoc(), dy, shape), begin, step);
  });
}

LogicalResult SequenceReverseOp::buildGradient(GradientBuilder &builder) {
  return sendBack(*this, builder, [&](Value dy) -> Value {
    return builder.create<SequenceReverseOp>(getLoc(), dy.getType(), dy, getSequenceLength(),
                                             getUseSequenceLengthAttr(), getAxisAttr());
  });
}

} // namespace lstmc::sym
