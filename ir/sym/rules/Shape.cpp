// Shapes, batch position and cost of the ops in ShapeOps.td; Reshape's codes are in Reshape.cpp.
#include "executor/abi/Sizes.h"
#include "ir/sym/Create.h"
#include "ir/sym/RuleSupport.h"

using namespace mlir;

namespace lstmc::sym {

using Positions = ArrayRef<BatchPosition>;

static std::string onAxis(int64_t axis) { return "on axis " + std::to_string(axis); }

/// `to` has the rank of `from` and its extents in another order: axis i of `to` is axis order(i) of
/// `from`.
static LogicalResult relatePermuted(ShapeRelation &relation, Value from, Value to,
                                    ArrayRef<int64_t> order) {
  if (failed(relation.fixRank(from, order.size())) || failed(relation.fixRank(to, order.size())))
    return failure();
  for (auto [axis, source] : llvm::enumerate(order))
    if (failed(relation.equal(to, axis, from, source, onAxis(axis))))
      return failure();
  return success();
}

/// The rank of the first of two values that has one; -1 if neither has.
static int64_t rankOfEither(ShapeRelation &relation, Value a, Value b) {
  return relation.ranked(a) ? relation.rank(a) : relation.ranked(b) ? relation.rank(b) : -1;
}

//===---- Flatten -----------------------------------------------------------------------------===//

LogicalResult FlattenOp::relateShapes(ShapeRelation &relation) {
  Value data = getData(), output = getOutput();
  if (failed(relation.sameType(data, output)) || failed(relation.fixRank(output, 2)))
    return failure();
  if (!relation.ranked(data))
    return success();
  if (failed(rankAtLeast(relation, data, 1)) ||
      failed(relation.equal(output, 0, data, 0, onAxis(0))))
    return failure();
  return relation.sameElements(output, 1, 2, data, 1, relation.rank(data), "elements after axis 0");
}
BatchPosition FlattenOp::batchOfResult(unsigned, Positions operands) {
  return reshaped(operands[0], shapeOf(getData()), shapeOf(getOutput()));
}

//===---- SwapAxis, transpose -----------------------------------------------------------------===//

LogicalResult SwapAxisOp::relateShapes(ShapeRelation &relation) {
  Value data = getData(), output = getOutput();
  if (failed(relation.sameType(data, output)))
    return failure();
  int64_t rank = rankOfEither(relation, data, output);
  if (rank < 0)
    return success();
  if (failed(relation.fixRank(data, rank)))
    return failure();
  // swap_axis:axes
  FailureOr<int64_t> first = axisOf(relation, data, getDim1(), "dim1");
  if (failed(first))
    return failure();
  FailureOr<int64_t> second = axisOf(relation, data, getDim2(), "dim2");
  if (failed(second))
    return failure();
  // swap_axis:extents
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::swap(order[*first], order[*second]);
  return relatePermuted(relation, data, output, order);
}
BatchPosition SwapAxisOp::batchOfResult(unsigned, Positions operands) {
  int64_t rank = rankOf(getData());
  int64_t first = (getDim1() + rank) % rank, second = (getDim2() + rank) % rank,
          axis = operands[0].axis;
  return movedTo(operands[0], axis == first ? second : axis == second ? first : axis);
}

/// `axes` counted from 0, or the reverse order. Not a permutation if the shape rule has refused it.
static SmallVector<int64_t> orderOf(ArrayRef<int64_t> axes, int64_t rank) {
  SmallVector<int64_t> order;
  for (int64_t axis = 0; axis < rank; ++axis)
    order.push_back(axes.empty()     ? rank - 1 - axis
                    : axes[axis] < 0 ? axes[axis] + rank
                                     : axes[axis]);
  return order;
}

LogicalResult TransposeOp::relateShapes(ShapeRelation &relation) {
  Value data = getData(), output = getOutput();
  if (failed(relation.sameType(data, output)))
    return failure();
  int64_t rank = getAxes().empty() ? rankOfEither(relation, data, output) : getAxes().size();
  if (rank < 0)
    return success();
  // transpose:axes
  if (failed(relation.fixRank(data, rank, "axes has " + std::to_string(rank))) ||
      failed(axesOf(relation, data, getAxes(), "axes")))
    return failure();
  // transpose:extents
  return relatePermuted(relation, data, output, orderOf(getAxes(), rank));
}
BatchPosition TransposeOp::batchOfResult(unsigned, Positions operands) {
  SmallVector<int64_t> order = orderOf(getAxes(), rankOf(getData()));
  return movedTo(operands[0],
                 operands[0] ? llvm::find(order, operands[0].axis) - order.begin() : -1);
}

//===---- expand_dims, squeeze ----------------------------------------------------------------===//

LogicalResult ExpandDimsOp::relateShapes(ShapeRelation &relation) {
  Value data = getData(), output = getOutput();
  if (failed(relation.sameType(data, output)))
    return failure();
  if (relation.ranked(data)) {
    if (failed(relation.fixRank(output, relation.rank(data) + 1)))
      return failure();
  } else if (!relation.ranked(output) || relation.rank(output) == 0 ||
             failed(relation.fixRank(data, relation.rank(output) - 1))) {
    return success();
  }
  // expand_dims:axis
  FailureOr<int64_t> axis = axisOf(relation, output, getAxis(), "axis");
  if (failed(axis))
    return failure();
  // expand_dims:extents
  return relateRemoved(relation, output, data, {*axis}, false).succeeded()
             ? relation.fix(output, *axis, 1, onAxis(*axis), "the new axis")
             : failure();
}
BatchPosition ExpandDimsOp::batchOfResult(unsigned, Positions operands) {
  int64_t axis = normalAxis(getAxis(), rankOf(getOutput()));
  return movedTo(operands[0], operands[0].axis + (operands[0] && operands[0].axis >= axis ? 1 : 0));
}

/// The axes that are removed; one axis always remains.
static SmallVector<int64_t> squeezedAxes(ArrayRef<int64_t> extents,
                                         std::optional<ArrayRef<int64_t>> axes) {
  int64_t rank = extents.size();
  SmallVector<int64_t> gone;
  for (int64_t axis = 0; axis < rank; ++axis)
    if (axes ? llvm::is_contained(*axes, axis) || llvm::is_contained(*axes, axis - rank)
             : extents[axis] == 1)
      gone.push_back(axis);
  if (!axes && int64_t(gone.size()) == rank && rank > 0)
    gone.erase(gone.begin());
  return gone;
}

LogicalResult SqueezeOp::relateShapes(ShapeRelation &relation) {
  Value data = getData(), output = getOutput();
  if (failed(relation.sameType(data, output)))
    return failure();
  if (!relation.ranked(data) || (!getAxis() && !relation.complete(data)))
    return success();
  // squeeze:axis
  if (getAxis() && failed(axesOf(relation, data, *getAxis(), "axis")))
    return failure();
  // squeeze:extent-1
  SmallVector<int64_t> gone = squeezedAxes(relation.extents(data), getAxis());
  for (int64_t axis : gone)
    if (failed(relation.fix(data, axis, 1, onAxis(axis), "an axis that is squeezed")))
      return failure();
  return relateRemoved(relation, data, output, gone, false);
}
BatchPosition SqueezeOp::batchOfResult(unsigned, Positions operands) {
  return withoutAxes(operands[0], squeezedAxes(shapeOf(getData()), getAxis()), false);
}

//===---- Concat, stack -----------------------------------------------------------------------===//

/// All inputs and the output have one type, and those with a rank have the same rank. Gives that
/// rank, or -1.
static FailureOr<int64_t> relateInputs(ShapeRelation &relation, OperandRange inputs, Value output) {
  if (inputs.empty()) {
    (void)(relation.refuse(ErrorCode::E0205) << "wants at least 1 input, got 0");
    return failure();
  }
  int64_t rank = -1;
  Value first;
  for (int round = 0; round < 2; ++round)
    for (Value input : inputs)
      if (failed(relation.sameType(inputs.front(), input)) ||
          failed(relation.sameType(inputs.front(), output)))
        return failure();
  for (Value input : inputs)
    if (relation.ranked(input)) {
      if (rank >= 0 && rank != relation.rank(input)) {
        (void)(relation.refuse(ErrorCode::E0207, {{input}, {first}})
               << relation.name(input) << " has " << relation.rank(input) << " axes, "
               << relation.name(first) << " has " << rank);
        return failure();
      }
      if (rank < 0)
        first = input;
      rank = relation.rank(input);
    }
  return rank;
}

LogicalResult ConcatOp::relateShapes(ShapeRelation &relation) {
  Value output = getOutput();
  // concat:count
  FailureOr<int64_t> rank = relateInputs(relation, getArgs(), output);
  if (failed(rank))
    return failure();
  if (*rank < 0 && relation.ranked(output))
    rank = relation.rank(output);
  if (*rank < 0)
    return success();
  for (Value input : getArgs())
    if (failed(relation.fixRank(input, *rank)))
      return failure();
  if (failed(relation.fixRank(output, *rank)))
    return failure();
  // concat:dim
  FailureOr<int64_t> dim = axisOf(relation, output, getDim(), "dim");
  if (failed(dim))
    return failure();

  // concat:other-axes
  Value first = getArgs().front();
  for (int64_t axis = 0; axis < *rank; ++axis) {
    if (axis == *dim)
      continue;
    std::string noun = onAxis(axis);
    for (int round = 0; round < 2; ++round) {
      for (Value input : getArgs().drop_front())
        if (failed(relation.equal(input, axis, first, axis, noun)))
          return failure();
      if (failed(relation.equal(output, axis, first, axis, noun)))
        return failure();
    }
  }

  // concat:sum
  int64_t known = 0, open = 0;
  Value unknown;
  for (Value input : getArgs()) {
    int64_t extent = relation.extent(input, *dim);
    if (extent == kOpen) {
      ++open;
      unknown = input;
    } else {
      known = sum({known, extent});
    }
  }
  if (open == 0)
    return relation.fix(output, *dim, known, onAxis(*dim), "the sum of its inputs");
  int64_t total = relation.extent(output, *dim);
  if (open == 1 && total != kOpen && total > known)
    return relation.fix(unknown, *dim, total - known, onAxis(*dim), "what the other inputs leave");
  return success();
}
BatchPosition ConcatOp::batchOfResult(unsigned, Positions operands) {
  BatchPosition position = firstBatch(operands);
  int64_t dim = normalAxis(getDim(), rankOf(getOutput()));
  return position && position.axis == dim ? BatchPosition::none() : position;
}

LogicalResult StackOp::relateShapes(ShapeRelation &relation) {
  Value output = getOutput(), first = getArgs().empty() ? Value() : getArgs().front();
  // stack:count, stack:same-shape
  if (failed(relateInputs(relation, getArgs(), output)))
    return failure();
  for (int round = 0; round < 2; ++round)
    for (Value input : getArgs())
      if (failed(relation.sameShape(first, input)))
        return failure();
  if (!relation.ranked(first))
    return success();
  if (failed(relation.fixRank(output, relation.rank(first) + 1)))
    return failure();
  // stack:axis
  FailureOr<int64_t> axis = axisOf(relation, output, getAxis(), "axis");
  if (failed(axis))
    return failure();
  // stack:extents
  for (int64_t at = 0, end = relation.rank(output); at < end; ++at)
    if (at != *axis &&
        failed(relation.equal(output, at, first, at < *axis ? at : at - 1, onAxis(at))))
      return failure();
  return relation.fix(output, *axis, getArgs().size(), onAxis(*axis), "the number of inputs");
}
BatchPosition StackOp::batchOfResult(unsigned, Positions operands) {
  BatchPosition position = firstBatch(operands);
  int64_t axis = normalAxis(getAxis(), rankOf(getOutput()));
  return movedTo(position, position.axis + (position && position.axis >= axis ? 1 : 0));
}

//===---- SliceChannel ------------------------------------------------------------------------===//

int64_t SliceChannelOp::resultCount(DictionaryAttr attributes) {
  auto count = attributes.getAs<IntegerAttr>("num_outputs");
  return count ? count.getInt() : 0;
}

/// The axis to cut, if the rank of the data is known and the axis can be cut.
static FailureOr<int64_t> checkParts(ShapeRelation &relation, SliceChannelOp op) {
  Value data = op.getData();
  int64_t parts = op.getNumOutputs();
  // slice_channel:axis
  FailureOr<int64_t> axis = axisOf(relation, data, op.getAxis(), "axis");
  if (failed(axis))
    return failure();
  int64_t whole = relation.extent(data, *axis);
  // slice_channel:squeeze
  if (op.getSqueezeAxis()) {
    if (failed(relation.fix(data, *axis, parts, onAxis(*axis), "num_outputs with squeeze_axis")))
      return failure();
    return axis;
  }
  // slice_channel:divides
  if (whole == kOpen || whole % parts == 0)
    return axis;
  (void)(relation.refuse(ErrorCode::E0207, {{data, *axis}})
         << relation.name(data) << " has " << whole << ' ' << onAxis(*axis) << ", which " << parts
         << " parts do not divide");
  return failure();
}

LogicalResult SliceChannelOp::relateShapes(ShapeRelation &relation) {
  Value data = getData();
  int64_t parts = getNumOutputs();
  // slice_channel:parts
  if (failed(atLeast(relation, parts, 1, "num_outputs")))
    return failure();
  if (int64_t(getOutputs().size()) != parts)
    return relation.refuse(ErrorCode::E0319)
           << "has " << getOutputs().size() << " results, num_outputs is " << parts;
  Value first = getOutputs().front();
  // Check what a single axis of data already forbids before collecting facts of all parts.
  if (relation.ranked(data) && failed(checkParts(relation, *this)))
    return failure();
  for (Value part : getOutputs())
    if (failed(relation.sameType(data, part)) || failed(relation.sameShape(first, part)))
      return failure();
  if (!relation.ranked(data)) {
    if (!relation.ranked(first))
      return success();
    if (failed(relation.fixRank(data, relation.rank(first) + (getSqueezeAxis() ? 1 : 0))))
      return failure();
  }
  FailureOr<int64_t> axis = checkParts(relation, *this);
  if (failed(axis))
    return failure();
  if (getSqueezeAxis()) {
    for (Value part : getOutputs())
      if (failed(relateRemoved(relation, data, part, {*axis}, false)))
        return failure();
    return success();
  }
  if (failed(relation.fixRank(first, relation.rank(data))))
    return failure();
  for (int64_t at = 0, end = relation.rank(data); at < end; ++at)
    if (at != *axis && failed(relation.equal(first, at, data, at, onAxis(at))))
      return failure();
  int64_t whole = relation.extent(data, *axis), part = relation.extent(first, *axis);
  if (whole != kOpen && failed(relation.fix(first, *axis, whole / parts, onAxis(*axis), "a part")))
    return failure();
  if (whole == kOpen && part != kOpen &&
      failed(
          relation.fix(data, *axis, product({part, parts}), onAxis(*axis), "the sum of its parts")))
    return failure();
  for (Value part : getOutputs())
    if (failed(relation.sameShape(first, part)))
      return failure();
  return success();
}
BatchPosition SliceChannelOp::batchOfResult(unsigned, Positions operands) {
  int64_t axis = normalAxis(getAxis(), rankOf(getData()));
  return withoutAxes(operands[0], {axis}, !getSqueezeAxis());
}

//===---- reverse, tile, repeat ---------------------------------------------------------------===//

LogicalResult ReverseOp::relateShapes(ShapeRelation &relation) {
  // reverse:axis
  if (relation.ranked(getData()) && failed(axesOf(relation, getData(), getAxis(), "axis")))
    return failure();
  return relateEqual(relation, *this, Numbers::Any);
}
BatchPosition ReverseOp::batchOfResult(unsigned, Positions operands) {
  int64_t rank = rankOf(getData());
  bool turned = llvm::any_of(
      getAxis(), [&](int64_t axis) { return (axis + rank) % rank == operands[0].axis; });
  return turned ? BatchPosition::none() : operands[0];
}

LogicalResult TileOp::relateShapes(ShapeRelation &relation) {
  Value data = getData(), output = getOutput();
  ArrayRef<int64_t> reps = getReps();
  // tile:reps
  for (int64_t count : reps)
    if (failed(atLeast(relation, count, 1, "reps")))
      return failure();
  if (failed(relation.sameType(data, output)))
    return failure();
  if (!relation.ranked(data))
    return success();
  // tile:extents
  int64_t rank = relation.rank(data), wide = std::max<int64_t>(rank, reps.size());
  if (failed(relation.fixRank(output, wide)))
    return failure();
  for (int64_t axis = 0; axis < wide; ++axis) {
    int64_t from = axis - (wide - rank), by = axis - (wide - int64_t(reps.size()));
    int64_t count = by < 0 ? 1 : reps[by];
    if (count == 1 && from >= 0) {
      if (failed(relation.equal(output, axis, data, from, onAxis(axis))))
        return failure();
      continue;
    }
    int64_t extent = from < 0 ? 1 : relation.extent(data, from);
    if (extent != kOpen &&
        failed(relation.fix(output, axis, product({extent, count}), onAxis(axis), "tiling")))
      return failure();
  }
  return success();
}
BatchPosition TileOp::batchOfResult(unsigned, Positions operands) {
  int64_t rank = rankOf(getData()), wide = rankOf(getOutput());
  BatchPosition position = operands[0];
  if (!position)
    return position;
  position.axis += wide - rank;
  int64_t by = position.axis - (wide - int64_t(getReps().size()));
  position.outer *= by < 0 ? 1 : getReps()[by];
  return position;
}

LogicalResult RepeatOp::relateShapes(ShapeRelation &relation) {
  Value data = getData(), output = getOutput();
  // repeat:repeats
  if (failed(atLeast(relation, getRepeats(), 1, "repeats")) ||
      failed(relation.sameType(data, output)))
    return failure();
  if (!getAxis()) {
    if (failed(relation.fixRank(output, 1)) || !relation.ranked(data) || !relation.complete(data))
      return success();
    SmallVector<int64_t> extents(relation.extents(data));
    extents.push_back(getRepeats());
    return relation.fix(output, 0, product(extents), "elements", "the number repeated");
  }
  int64_t rank = rankOfEither(relation, data, output);
  if (rank < 0)
    return success();
  if (failed(relation.fixRank(data, rank)) || failed(relation.fixRank(output, rank)))
    return failure();
  // repeat:axis
  FailureOr<int64_t> axis = axisOf(relation, data, *getAxis(), "axis");
  if (failed(axis))
    return failure();
  for (int64_t at = 0; at < rank; ++at) {
    if (at != *axis && failed(relation.equal(output, at, data, at, onAxis(at))))
      return failure();
    if (at == *axis && relation.extent(data, at) != kOpen &&
        failed(relation.fix(output, at, product({relation.extent(data, at), int64_t(getRepeats())}),
                            onAxis(at), "repeating")))
      return failure();
  }
  return success();
}
BatchPosition RepeatOp::batchOfResult(unsigned, Positions operands) {
  BatchPosition position = operands[0];
  if (!getAxis())
    position = reshaped(position, shapeOf(getData()), {elementsOf(getData())});
  int64_t axis = getAxis() ? normalAxis(*getAxis(), rankOf(getData())) : 0;
  if (position && position.axis == axis)
    position.inner *= getRepeats();
  return position;
}

//===---- broadcast_to, broadcast_axis --------------------------------------------------------===//

/// Extents of the result; 0 to keep that of the operand.
static LogicalResult relateStretched(ShapeRelation &relation, Value data, Value output,
                                     ArrayRef<int64_t> wanted) {
  for (auto [axis, extent] : llvm::enumerate(wanted)) {
    if (extent == 0 || extent == relation.extent(data, axis)) {
      if (failed(relation.equal(output, axis, data, axis, onAxis(axis))))
        return failure();
      continue;
    }
    int64_t found = relation.extent(data, axis);
    if (found != kOpen && found != 1)
      return relation.refuse(ErrorCode::E0207, {{data, int64_t(axis)}})
             << relation.name(data) << " has " << found << ' ' << onAxis(axis)
             << ", only 1 stretches to " << extent;
    if (failed(relation.fix(output, axis, extent, onAxis(axis), "broadcasting")))
      return failure();
  }
  return success();
}

LogicalResult BroadcastToOp::relateShapes(ShapeRelation &relation) {
  Value data = getData(), output = getOutput();
  if (failed(relation.sameType(data, output)))
    return failure();
  for (int64_t extent : getShape())
    if (failed(atLeast(relation, extent, 0, "shape")))
      return failure();
  // broadcast_to:rank
  int64_t rank = getShape().size();
  std::string why = "shape has " + std::to_string(rank);
  if (failed(relation.fixRank(data, rank, why)) || failed(relation.fixRank(output, rank, why)))
    return failure();
  // broadcast_to:stretch
  return relateStretched(relation, data, output, getShape());
}
StringRef BroadcastToOp::extentsAttribute() { return "shape"; }

/// Rows that result from broadcasting are all equal.
BatchPosition BroadcastToOp::batchOfResult(unsigned, Positions operands) {
  if (operands[0])
    return broadcastBatch(*this, operands);
  BatchPosition written = writtenBatch(*this);
  return written && shapeOf(getData())[size_t(written.axis)] == 1 ? written : BatchPosition::none();
}

LogicalResult BroadcastAxisOp::relateShapes(ShapeRelation &relation) {
  Value data = getData(), output = getOutput();
  // broadcast_axis:axis
  if (getAxis().size() != getSize().size())
    return relation.refuse(ErrorCode::E0319)
           << "axis has " << getAxis().size() << " entries, size has " << getSize().size();
  for (int64_t extent : getSize())
    if (failed(atLeast(relation, extent, 1, "size")))
      return failure();
  if (failed(relation.sameType(data, output)))
    return failure();
  int64_t rank = rankOfEither(relation, data, output);
  if (rank < 0)
    return success();
  if (failed(relation.fixRank(data, rank)) || failed(relation.fixRank(output, rank)) ||
      failed(axesOf(relation, data, getAxis(), "axis")))
    return failure();
  // broadcast_axis:stretch
  SmallVector<int64_t> wanted(rank, 0);
  for (auto [axis, extent] : llvm::zip(getAxis(), getSize()))
    wanted[axis < 0 ? axis + rank : axis] = extent;
  return relateStretched(relation, data, output, wanted);
}
BatchPosition BroadcastAxisOp::batchOfResult(unsigned, Positions operands) {
  return broadcastBatch(*this, operands);
}

} // namespace lstmc::sym
