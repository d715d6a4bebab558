// Shapes and batch positions of the ops in SourceOps.td.
#include "ir/sym/RuleSupport.h"

using namespace mlir;

namespace lstmc::sym {

using Positions = ArrayRef<BatchPosition>;

static LogicalResult relateName(ShapeRelation &relation, StringRef name) {
  return name.empty() ? LogicalResult(relation.refuse(ErrorCode::E0319) << "name is empty")
                      : success();
}

LogicalResult VariableOp::relateShapes(ShapeRelation &relation) {
  // variable:type
  Type type = relation.type(getResult());
  if (type && isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32)
    return relation.refuse(ErrorCode::E0215, {{getResult(), kTypeAxis}})
           << "a parameter of " << dtypeLongName(*dtypeOf(type))
           << " is not built yet: keep it in float32, and cast what is read of it";
  // variable:name
  return relateName(relation, getName());
}
BatchPosition VariableOp::batchOfResult(unsigned, Positions) { return BatchPosition::none(); }

LogicalResult BeginStateOp::relateShapes(ShapeRelation &relation) {
  // begin_state:name
  return relateName(relation, getName());
}
BatchPosition BeginStateOp::batchOfResult(unsigned, Positions) { return writtenBatch(*this); }

LogicalResult relateConstant(ShapeRelation &relation, Value output, ArrayRef<int64_t> shape,
                             StringRef dtype) {
  if (failed(relation.fixType(output, elementType(output.getContext(), dtype), "dtype")))
    return failure();
  if (shape.empty())
    return success();
  SmallVector<int64_t> extents;
  for (int64_t extent : shape) {
    if (extent < 0)
      return relation.refuse(ErrorCode::E0206)
             << "dimension " << extent << " (write 0 for one to infer)";
    extents.push_back(extent == 0 ? kOpen : extent);
  }
  return relation.fixShape(output, extents, "shape");
}

LogicalResult ZerosOp::relateShapes(ShapeRelation &relation) {
  return relateConstant(relation, getOutput(), getShape(), getDtype());
}
BatchPosition ZerosOp::batchOfResult(unsigned, Positions) { return writtenBatch(*this); }

LogicalResult OnesOp::relateShapes(ShapeRelation &relation) {
  return relateConstant(relation, getOutput(), getShape(), getDtype());
}
BatchPosition OnesOp::batchOfResult(unsigned, Positions) { return writtenBatch(*this); }

LogicalResult FullOp::relateShapes(ShapeRelation &relation) {
  return relateConstant(relation, getOutput(), getShape(), getDtype());
}
BatchPosition FullOp::batchOfResult(unsigned, Positions) { return writtenBatch(*this); }

LogicalResult ArangeOp::relateShapes(ShapeRelation &relation) {
  double start = getStop() ? getStart().convertToDouble() : 0;
  double stop = getStop() ? getStop()->convertToDouble() : getStart().convertToDouble();
  double step = getStep().convertToDouble();
  // arange:step
  if (step == 0 || !std::isfinite(step))
    return relation.refuse(ErrorCode::E0319)
           << "step is " << step << ", wants a number other than 0";
  if (failed(atLeast(relation, getRepeat(), 1, "repeat")))
    return failure();
  // arange:range
  double count = std::ceil((stop - start) / step);
  if (!(count >= 1 && count <= double(int64_t(1) << 53) / double(getRepeat())))
    return relation.refuse(ErrorCode::E0319)
           << "no numbers, or too many, from " << start << " to " << stop << " by " << step;
  // arange:shape
  if (failed(relation.fixType(getOutput(), elementType(getContext(), getDtype()), "dtype")))
    return failure();
  return relation.fixShape(getOutput(), {int64_t(count) * int64_t(getRepeat())}, "the range");
}
/// The numbers of a range differ from row to row, so its rows are not all equal.
BatchPosition ArangeOp::batchOfResult(unsigned, Positions) { return BatchPosition::none(); }

StringRef ZerosOp::extentsAttribute() { return "shape"; }
StringRef OnesOp::extentsAttribute() { return "shape"; }
StringRef FullOp::extentsAttribute() { return "shape"; }

} // namespace lstmc::sym
