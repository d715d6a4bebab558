// Shapes, batch position and cost of the ops in ReduceOps.td.
#include "ir/sym/ConstantValue.h"
#include "ir/sym/Create.h"
#include "ir/sym/RuleSupport.h"
#include "ir/sym/rules/ReducedAxes.h"

using namespace mlir;

namespace lstmc::sym {

using Positions = ArrayRef<BatchPosition>;

//===---- sum, mean, max, min, prod, norm, argmax ---------------------------------------------===//

SmallVector<int64_t> reducedAxes(int64_t rank, std::optional<ArrayRef<int64_t>> axes,
                                 bool exclude) {
  SmallVector<int64_t> reduced;
  for (int64_t axis = 0; axis < rank; ++axis) {
    bool named = !axes || axes->empty() || llvm::is_contained(*axes, axis) ||
                 llvm::is_contained(*axes, axis - rank);
    if (axes && !axes->empty() ? named != exclude : true)
      reduced.push_back(axis);
  }
  return reduced;
}

static LogicalResult relateReduced(ShapeRelation &relation, Value data, Value output,
                                   std::optional<ArrayRef<int64_t>> axes, bool keep, bool exclude) {
  if (failed(relation.sameType(data, output)))
    return failure();
  if (!relation.ranked(data))
    return success();
  if (axes && failed(axesOf(relation, data, *axes, "axis")))
    return failure();
  return relateRemoved(relation, data, output, reducedAxes(relation.rank(data), axes, exclude),
                       keep);
}

/// Accepts floats, and integers: those that f64 represents exactly are reduced in f64
/// (rules/Shorthand.cpp), others by rules/LongReductions.cpp.
static LogicalResult reducibleType(ShapeRelation &relation, Value data) {
  Type type = relation.type(data);
  bool summable = type && type.isInteger() && type.getIntOrFloatBitWidth() > 1;
  return summable ? success() : relation.floatType(data);
}

static BatchPosition reducedBatch(Value data, BatchPosition position,
                                  std::optional<ArrayRef<int64_t>> axes, bool keep, bool exclude) {
  return withoutAxes(position, reducedAxes(rankOf(data), axes, exclude), keep);
}

#define LSTMC_AXES_REDUCTION(OP)                                                                   \
  LogicalResult OP::relateShapes(ShapeRelation &relation) {                                        \
    if (failed(reducibleType(relation, getData())))                                                \
      return failure();                                                                            \
    return relateReduced(relation, getData(), getOutput(), getAxis(), getKeepdims(),               \
                         getExclude());                                                            \
  }                                                                                                \
  BatchPosition OP::batchOfResult(unsigned, Positions operands) {                                  \
    return reducedBatch(getData(), operands[0], getAxis(), getKeepdims(), getExclude());           \
  }                                                                                                \
  int64_t OP::flops() { return elementsOf(getData()); }
LSTMC_AXES_REDUCTION(SumOp)
LSTMC_AXES_REDUCTION(MeanOp)
LSTMC_AXES_REDUCTION(MaxOp)
LSTMC_AXES_REDUCTION(MinOp)
LSTMC_AXES_REDUCTION(ProdOp)
#undef LSTMC_AXES_REDUCTION

LogicalResult NormOp::relateShapes(ShapeRelation &relation) {
  // norm:ord
  if (getOrd() != 1 && getOrd() != 2)
    return relation.refuse(ErrorCode::E0319) << "ord is " << getOrd() << ", wants 1 or 2";
  if (failed(relation.floatType(getData())))
    return failure();
  return relateReduced(relation, getData(), getOutput(), getAxis(), getKeepdims(), false);
}
BatchPosition NormOp::batchOfResult(unsigned, Positions operands) {
  return reducedBatch(getData(), operands[0], getAxis(), getKeepdims(), false);
}
int64_t NormOp::flops() { return 2 * elementsOf(getData()); }

static SmallVector<int64_t, 1> asList(std::optional<int64_t> axis) {
  return axis ? SmallVector<int64_t, 1>{*axis} : SmallVector<int64_t, 1>();
}

LogicalResult ArgmaxOp::relateShapes(ShapeRelation &relation) {
  if (failed(relation.floatType(getData())))
    return failure();
  return relateReduced(relation, getData(), getOutput(), asList(getAxis()), getKeepdims(), false);
}
BatchPosition ArgmaxOp::batchOfResult(unsigned, Positions operands) {
  return reducedBatch(getData(), operands[0], asList(getAxis()), getKeepdims(), false);
}
int64_t ArgmaxOp::flops() { return elementsOf(getData()); }

LogicalResult ArgminOp::relateShapes(ShapeRelation &relation) {
  if (failed(relation.floatType(getData())))
    return failure();
  return relateReduced(relation, getData(), getOutput(), asList(getAxis()), getKeepdims(), false);
}

//===---- softmax, log_softmax, softmin -------------------------------------------------------===//

template <typename Op> static LogicalResult relateSoftmax(ShapeRelation &relation, Op op) {
  Value data = op.getData(), length = op.getLength(), output = op.getOutput();
  // softmax:same-shape
  if (failed(relation.sameShape(data, output)) || failed(relation.floatType(data)))
    return failure();
  if (std::optional<StringRef> dtype = op.getDtype()) {
    if (failed(relation.fixType(output, elementType(op.getContext(), *dtype), "dtype")))
      return failure();
  } else if (failed(relation.sameType(data, output))) {
    return failure();
  }
  if (bool(length) != op.getUseLength())
    return relation.refuse(ErrorCode::E0319)
           << (length ? "has a length, and use_length is False" : "needs length");
  // softmax:temperature
  if (std::optional<llvm::APFloat> temperature = op.getTemperature();
      temperature && !(temperature->convertToDouble() > 0))
    return relation.refuse(ErrorCode::E0319)
           << "temperature is " << fmt::format("{}", temperature->convertToDouble())
           << ", wants a number above 0";
  if (!relation.ranked(data))
    return success();
  // softmax:axis
  FailureOr<int64_t> axis = axisOf(relation, data, op.getAxis(), "axis");
  if (failed(axis))
    return failure();
  if (!length)
    return success();
  // softmax:length-shape
  if (failed(relateRemoved(relation, data, length, {*axis}, false)))
    return failure();
  return lengthWithin(relation, length, data, *axis);
}

/// A length has the extents of the data without `axis`.
template <typename Op> static BatchPosition softmaxBatch(Op op, ArrayRef<BatchPosition> operands) {
  int64_t axis = normalAxis(op.getAxis(), rankOf(op.getData()));
  if (!operands[0] && op.getLength())
    return withAxis(operands[1], axis, op.getLength(), op.getData());
  return unlessOn(operands[0], axis);
}

LogicalResult SoftmaxOp::relateShapes(ShapeRelation &relation) {
  return relateSoftmax(relation, *this);
}
BatchPosition SoftmaxOp::batchOfResult(unsigned, Positions operands) {
  return softmaxBatch(*this, operands);
}
int64_t SoftmaxOp::flops() { return 5 * elementsOf(getData()); }

LogicalResult LogSoftmaxOp::relateShapes(ShapeRelation &relation) {
  return relateSoftmax(relation, *this);
}
BatchPosition LogSoftmaxOp::batchOfResult(unsigned, Positions operands) {
  return softmaxBatch(*this, operands);
}
int64_t LogSoftmaxOp::flops() { return 5 * elementsOf(getData()); }

LogicalResult SoftminOp::relateShapes(ShapeRelation &relation) {
  return relateSoftmax(relation, *this);
}

//===---- LayerNorm ---------------------------------------------------------------------------===//

LogicalResult LayerNormOp::relateShapes(ShapeRelation &relation) {
  Value data = getData();
  // layer_norm:same-shape
  for (int round = 0; round < 2; ++round)
    for (Value value : {getGamma(), getBeta(), getOutput(), getMean(), getRstd()})
      if (failed(relation.sameType(data, value)))
        return failure();
  if (failed(wideFloatType(relation, data)) || failed(relation.sameShape(data, getOutput())))
    return failure();
  // layer_norm:parameter-shape
  for (Value parameter : {getGamma(), getBeta()})
    if (failed(relation.fixRank(parameter, 1)))
      return failure();
  if (!relation.ranked(data))
    return success();
  // layer_norm:axis
  FailureOr<int64_t> axis = axisOf(relation, data, getAxis(), "axis");
  if (failed(axis))
    return failure();
  for (Value parameter : {getGamma(), getBeta()})
    if (failed(relation.equal(parameter, 0, data, *axis, "elements")))
      return failure();
  for (Value statistic : {getMean(), getRstd()})
    if (failed(relateRemoved(relation, data, statistic, {*axis}, getOutputMeanVar())))
      return failure();
  return success();
}

BatchPosition LayerNormOp::batchOfResult(unsigned index, Positions operands) {
  int64_t axis = normalAxis(getAxis(), rankOf(getData()));
  return withoutAxes(operands[0], {axis}, index == 0 || getOutputMeanVar());
}
int64_t LayerNormOp::flops() { return 8 * elementsOf(getData()); }

} // namespace lstmc::sym
