// Shapes, batch position and cost of slice and slice_axis.
#include "ir/sym/Window.h"

#include "ir/sym/Create.h"
#include "ir/sym/RuleSupport.h"

using namespace mlir;

namespace lstmc::sym {

using Positions = ArrayRef<BatchPosition>;

static std::optional<int64_t> entry(std::optional<ArrayAttr> entries, size_t axis) {
  if (!entries || axis >= entries->size())
    return std::nullopt;
  auto number = dyn_cast<IntegerAttr>((*entries)[axis]);
  return number ? std::optional(number.getInt()) : std::nullopt;
}

/// A slice as in Python: where it begins, how many elements, and the step between them. Size 0 if
/// empty.
static Window pythonSlice(int64_t extent, std::optional<int64_t> begin, std::optional<int64_t> end,
                          int64_t step) {
  step = std::clamp(step, -extent, extent); // a longer step takes one element too
  auto bound = [&](std::optional<int64_t> at, int64_t otherwise) {
    if (!at)
      return otherwise;
    int64_t index = *at < 0 ? *at + extent : *at;
    return step > 0 ? std::clamp<int64_t>(index, 0, extent)
                    : std::clamp<int64_t>(index, -1, extent - 1);
  };
  int64_t from = bound(begin, step > 0 ? 0 : extent - 1);
  int64_t to = bound(end, step > 0 ? extent : -1);
  int64_t distance = step > 0 ? to - from : from - to;
  int64_t stride = step > 0 ? step : -step;
  return {from, distance <= 0 ? 0 : (distance - 1) / stride + 1, step};
}

SmallVector<Window> windowsOf(SliceOp op, ArrayRef<int64_t> extents) {
  SmallVector<Window> windows;
  for (auto [axis, extent] : llvm::enumerate(extents))
    windows.push_back(pythonSlice(extent, entry(op.getBegin(), axis), entry(op.getEnd(), axis),
                                  entry(op.getStep(), axis).value_or(1)));
  return windows;
}

Window windowOf(SliceAxisOp op, int64_t extent) {
  // An index further out means the same as one past the end.
  auto bound = [&](int64_t at) {
    return std::clamp<int64_t>(at < 0 ? at + extent : at, -1, extent + 1);
  };
  int64_t begin = bound(op.getBegin()), end = bound(op.getEnd().value_or(extent));
  return {begin, end - begin, 1};
}

//===---- slice -------------------------------------------------------------------------------===//

LogicalResult SliceOp::relateShapes(ShapeRelation &relation) {
  Value data = getData(), output = getOutput();
  if (failed(relation.sameType(data, output)))
    return failure();
  // slice:rank
  if (getBegin().size() != getEnd().size() ||
      (getStep() && !getStep()->empty() && getStep()->size() != getBegin().size()))
    return relation.refuse(ErrorCode::E0319)
           << "begin has " << getBegin().size() << " entries, "
           << (getBegin().size() != getEnd().size() ? "end has " : "step has ")
           << (getBegin().size() != getEnd().size() ? getEnd().size() : getStep()->size());
  // slice:step
  for (size_t axis = 0; axis < getBegin().size(); ++axis)
    if (entry(getStep(), axis) == 0)
      return relation.refuse(ErrorCode::E0319) << "step is 0 on axis " << axis;
  if (!relation.ranked(data)) {
    if (!relation.ranked(output) || failed(relation.fixRank(data, relation.rank(output))))
      return success();
  }
  int64_t rank = relation.rank(data);
  if (int64_t(getBegin().size()) > rank)
    return relation.refuse(ErrorCode::E0319, {{data}})
           << "begin has " << getBegin().size() << " entries, " << relation.name(data) << " has "
           << rank << (rank == 1 ? " axis" : " axes");
  if (failed(relation.fixRank(output, rank)))
    return failure();
  // slice:window
  for (int64_t axis = 0; axis < rank; ++axis) {
    std::optional<int64_t> begin = entry(getBegin(), axis), end = entry(getEnd(), axis);
    int64_t step = entry(getStep(), axis).value_or(1), extent = relation.extent(data, axis);
    std::string noun = "on axis " + std::to_string(axis);
    if (!begin && !end && (step == 1 || step == -1)) {
      if (failed(relation.equal(output, axis, data, axis, noun)))
        return failure();
      continue;
    }
    if (extent == kOpen)
      continue;
    Window window = pythonSlice(extent, begin, end, step);
    if (window.size == 0)
      return relation.refuse(ErrorCode::E0319, {{data, axis}})
             << "nothing is left of axis " << axis << ", which has " << extent << " elements";
    if (failed(relation.fix(output, axis, window.size, noun, "the slice")))
      return failure();
  }
  return success();
}

BatchPosition SliceOp::batchOfResult(unsigned, Positions operands) {
  if (!operands[0])
    return operands[0];
  ArrayRef<int64_t> extents = shapeOf(getData());
  Window window = windowsOf(*this, extents)[operands[0].axis];
  bool whole = window.step == 1 && window.size == extents[operands[0].axis];
  return whole ? operands[0] : BatchPosition::none();
}

//===---- slice_axis --------------------------------------------------------------------------===//

LogicalResult SliceAxisOp::relateShapes(ShapeRelation &relation) {
  Value data = getData(), output = getOutput();
  if (failed(relation.sameType(data, output)))
    return failure();
  int64_t rank = relation.ranked(data)     ? relation.rank(data)
                 : relation.ranked(output) ? relation.rank(output)
                                           : -1;
  if (rank < 0)
    return success();
  if (failed(relation.fixRank(data, rank)) || failed(relation.fixRank(output, rank)))
    return failure();
  // slice_axis:axis
  FailureOr<int64_t> axis = axisOf(relation, data, getAxis(), "axis");
  if (failed(axis))
    return failure();
  for (int64_t at = 0; at < rank; ++at)
    if (at != *axis &&
        failed(relation.equal(output, at, data, at, "on axis " + std::to_string(at))))
      return failure();
  // slice_axis:window
  int64_t extent = relation.extent(data, *axis);
  if (extent == kOpen) {
    // Even for an open extent the length is known if both ends count from the same side.
    int64_t begin = getBegin(), end = getEnd() ? int64_t(*getEnd()) : INT64_MIN;
    if ((end < 0) == (begin < 0) && end > begin)
      return relation.fix(output, *axis, end - begin, "on axis " + std::to_string(*axis),
                          "the slice");
    return success();
  }
  Window window = windowOf(*this, extent);
  if (window.begin < 0 || window.size < 1 || window.begin + window.size > extent)
    return relation.refuse(ErrorCode::E0319, {{data, *axis}})
           << "begin " << window.begin << " and end " << window.begin + window.size
           << " are no part of axis " << *axis << ", which has " << extent << " elements";
  return relation.fix(output, *axis, window.size, "on axis " + std::to_string(*axis), "the slice");
}

BatchPosition SliceAxisOp::batchOfResult(unsigned, Positions operands) {
  int64_t axis = normalAxis(getAxis(), rankOf(getData()));
  bool whole = shapeOf(getData())[axis] == shapeOf(getOutput())[axis];
  return operands[0].axis == axis && !whole ? BatchPosition::none() : operands[0];
}

} // namespace lstmc::sym
