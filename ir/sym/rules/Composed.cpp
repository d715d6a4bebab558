// Shapes of the ops in ComposedOps.td, except einsum, argmin and softmin (Einsum.cpp, Reduce.cpp).
#include "ir/sym/Create.h"
#include "ir/sym/RuleSupport.h"

#include "executor/abi/Sizes.h"

using namespace mlir;

namespace lstmc::sym {

namespace {

std::string onAxis(int64_t axis) { return "on axis " + std::to_string(axis); }

/// `output` has the shape of `data`, except for some extents, which are those of `other`.
LogicalResult relateBut(ShapeRelation &relation, Value output, Value data,
                        llvm::function_ref<std::optional<int64_t>(int64_t axis)> axisOfOther,
                        Value other) {
  if (failed(relation.fixRank(output, relation.rank(data))))
    return failure();
  for (int64_t axis = 0; axis < relation.rank(data); ++axis) {
    std::optional<int64_t> from = axisOfOther(axis);
    if (failed(from ? relation.equal(output, axis, other, *from, onAxis(axis))
                    : relation.equal(output, axis, data, axis, onAxis(axis))))
      return failure();
  }
  return success();
}

} // namespace

LogicalResult AmpCastOp::relateShapes(ShapeRelation &relation) {
  return relateEqual(relation, *this, Numbers::Any);
}

//===---- reshape_like ------------------------------------------------------------------------===//

namespace {
struct AxisWindow {
  int64_t begin, end;
};
} // namespace

static FailureOr<AxisWindow> axisWindow(ShapeRelation &relation, Value value,
                                        std::optional<int64_t> first, std::optional<int64_t> last) {
  int64_t rank = relation.rank(value);
  AxisWindow window{normalAxis(first.value_or(0), rank), normalAxis(last.value_or(rank), rank)};
  if (0 <= window.begin && window.begin <= window.end && window.end <= rank)
    return window;
  // reshape_like:window
  (void)(relation.refuse(ErrorCode::E0319, {{value}})
         << "axes " << window.begin << " to " << window.end << " of " << relation.name(value)
         << ", which has " << rank);
  return failure();
}

LogicalResult ReshapeLikeOp::relateShapes(ShapeRelation &relation) {
  Value lhs = getLhs(), rhs = getRhs(), output = getOutput();
  if (failed(relation.sameType(lhs, output)))
    return failure();
  if (!relation.ranked(lhs) || !relation.ranked(rhs))
    return success();
  auto gone = axisWindow(relation, lhs, getLhsBegin(), getLhsEnd());
  auto come = axisWindow(relation, rhs, getRhsBegin(), getRhsEnd());
  if (failed(gone) || failed(come))
    return failure();
  // reshape_like:elements
  if (failed(relation.sameElements(lhs, gone->begin, gone->end, rhs, come->begin, come->end)))
    return failure();
  int64_t added = come->end - come->begin, rank = relation.rank(lhs);
  if (failed(relation.fixRank(output, rank - (gone->end - gone->begin) + added)))
    return failure();
  for (int64_t axis = 0; axis < relation.rank(output); ++axis) {
    bool fromRhs = axis >= gone->begin && axis < gone->begin + added;
    int64_t from = axis < gone->begin ? axis : axis - gone->begin - added + gone->end;
    if (failed(fromRhs ? relation.equal(output, axis, rhs, axis - gone->begin + come->begin,
                                        onAxis(axis))
                       : relation.equal(output, axis, lhs, from, onAxis(axis))))
      return failure();
  }
  return success();
}

//===---- broadcast_like ----------------------------------------------------------------------===//

LogicalResult BroadcastLikeOp::relateShapes(ShapeRelation &relation) {
  Value lhs = getLhs(), rhs = getRhs(), output = getOutput();
  if (failed(relation.sameType(lhs, output)))
    return failure();
  if (!relation.ranked(lhs) || !relation.ranked(rhs))
    return success();
  SmallVector<int64_t> to(getLhsAxes().value_or(ArrayRef<int64_t>())),
      from(getRhsAxes().value_or(ArrayRef<int64_t>()));
  // broadcast_like:axes
  if (to.size() != from.size())
    return relation.refuse(ErrorCode::E0319)
           << "lhs_axes has " << to.size() << " axes, rhs_axes has " << from.size();
  if (to.empty()) {
    if (failed(relation.fixRank(lhs, relation.rank(rhs))))
      return failure();
    for (int64_t axis = 0; axis < relation.rank(rhs); ++axis) {
      to.push_back(axis);
      from.push_back(axis);
    }
  }
  for (auto [attribute, axes, value] :
       {std::tuple("lhs_axes", &to, lhs), std::tuple("rhs_axes", &from, rhs)})
    for (int64_t &axis : *axes) {
      FailureOr<int64_t> at = axisOf(relation, value, axis, attribute);
      if (failed(at))
        return failure();
      axis = *at;
    }
  // broadcast_like:stretch
  for (auto [axis, other] : llvm::zip_equal(to, from))
    if (relation.extent(lhs, axis) != 1 && relation.extent(lhs, axis) != kOpen &&
        failed(relation.equal(lhs, axis, rhs, other, onAxis(axis))))
      return failure();
  return relateBut(
      relation, output, lhs,
      [&](int64_t axis) -> std::optional<int64_t> {
        auto found = llvm::find(to, axis);
        return found == to.end() ? std::nullopt : std::optional(from[size_t(found - to.begin())]);
      },
      rhs);
}

//===---- slice_like --------------------------------------------------------------------------===//

LogicalResult SliceLikeOp::relateShapes(ShapeRelation &relation) {
  Value data = getData(), like = getShapeLike(), output = getOutput();
  if (failed(relation.sameType(data, output)))
    return failure();
  if (!relation.ranked(data) || !relation.ranked(like))
    return success();
  // slice_like:rank
  if (getAxes().empty() && failed(relation.fixRank(like, relation.rank(data))))
    return failure();
  auto axes = axesOf(relation, data, getAxes(), "axes");
  if (failed(axes))
    return failure();
  for (int64_t axis : *axes)
    if (failed(axisOf(relation, like, axis, "axes")))
      return failure();
  auto cut = [&](int64_t axis) { return axes->empty() || llvm::is_contained(*axes, axis); };
  // slice_like:window
  for (int64_t axis = 0; axis < relation.rank(data); ++axis) {
    if (!cut(axis))
      continue;
    int64_t have = relation.extent(data, axis), want = relation.extent(like, axis);
    if (have != kOpen && want != kOpen && want > have)
      return relation.refuse(ErrorCode::E0207, {{data, axis}, {like, axis}})
             << relation.name(data) << " has " << have << " on axis " << axis << ", "
             << relation.name(like) << " has " << want;
  }
  return relateBut(
      relation, output, data,
      [&](int64_t axis) { return cut(axis) ? std::optional(axis) : std::nullopt; }, like);
}

//===---- argmax_channel, batch_take ----------------------------------------------------------===//

LogicalResult ArgmaxChannelOp::relateShapes(ShapeRelation &relation) {
  Value data = getData();
  if (failed(relation.sameType(data, getOutput())))
    return failure();
  if (!relation.ranked(data))
    return success();
  // argmax_channel:rank, argmax_channel:output-shape
  if (failed(rankAtLeast(relation, data, 2)))
    return failure();
  return relateRemoved(relation, data, getOutput(), {1}, false);
}

LogicalResult BatchTakeOp::relateShapes(ShapeRelation &relation) {
  Value a = getA(), indices = getIndices();
  // batch_take:rank, batch_take:rows
  if (failed(relation.sameType(a, getOutput())) || failed(relation.fixRank(a, 2)) ||
      failed(relation.fixRank(indices, 1)) || failed(relation.fixRank(getOutput(), 1)) ||
      failed(relation.equal(indices, 0, a, 0, "rows")))
    return failure();
  return relation.equal(getOutput(), 0, a, 0, "rows");
}

//===---- arange_like -------------------------------------------------------------------------===//

LogicalResult ArangeLikeOp::relateShapes(ShapeRelation &relation) {
  // arange_like:step, arange_like:repeat
  if (getStep().isZero() || !getStep().isFinite())
    return relation.refuse(ErrorCode::E0319)
           << "step is " << getStep().convertToDouble() << ", wants a number other than 0";
  if (failed(atLeast(relation, getRepeat(), 1, "repeat")) ||
      failed(relation.sameType(getData(), getOutput())))
    return failure();
  if (!getAxis())
    return relation.sameShape(getData(), getOutput());
  if (!relation.ranked(getData()))
    return success();
  // arange_like:axis
  FailureOr<int64_t> axis = axisOf(relation, getData(), *getAxis(), "axis");
  if (failed(axis) || failed(relation.fixRank(getOutput(), 1)))
    return failure();
  return relation.equal(getOutput(), 0, getData(), *axis, "elements");
}

//===---- normalisation -----------------------------------------------------------------------===//

LogicalResult L2NormalizationOp::relateShapes(ShapeRelation &relation) {
  if (failed(relateEqual(relation, *this, Numbers::Float)))
    return failure();
  // l2_normalization:rank
  int64_t least = getMode() == "spatial" ? 3 : 2;
  return relation.ranked(getData()) ? rankAtLeast(relation, getData(), least) : success();
}

LogicalResult InstanceNormOp::relateShapes(ShapeRelation &relation) {
  Value data = getData();
  if (failed(relation.sameType(data, getOutput())) || failed(relation.floatType(data)) ||
      failed(relation.sameShape(data, getOutput())))
    return failure();
  // instance_norm:parameter-shape
  for (Value value : {getGamma(), getBeta()})
    if (failed(relation.sameType(data, value)) || failed(relation.fixRank(value, 1)))
      return failure();
  if (!relation.ranked(data))
    return success();
  // instance_norm:rank
  if (failed(rankAtLeast(relation, data, 3)) ||
      failed(relation.equal(getGamma(), 0, data, 1, "elements")))
    return failure();
  return relation.equal(getBeta(), 0, data, 1, "elements");
}

LogicalResult DivSqrtDimOp::relateShapes(ShapeRelation &relation) {
  if (failed(relateEqual(relation, *this, Numbers::Float)))
    return failure();
  // div_sqrt_dim:rank
  return relation.ranked(getData()) ? rankAtLeast(relation, getData(), 1) : success();
}

LogicalResult SoftmaxActivationOp::relateShapes(ShapeRelation &relation) {
  if (failed(relateEqual(relation, *this, Numbers::Float)))
    return failure();
  // softmax_activation:rank
  return relation.ranked(getData()) ? rankAtLeast(relation, getData(), 2) : success();
}

//===---- LeakyReLU ---------------------------------------------------------------------------===//

LogicalResult LeakyReluOp::relateShapes(ShapeRelation &relation) {
  Value data = getData(), gamma = getGamma();
  // leaky_relu:bounds
  double lower = getLowerBound().convertToDouble(), upper = getUpperBound().convertToDouble();
  if (getActType() == "rrelu" && !(lower <= upper))
    return relation.refuse(ErrorCode::E0319)
           << "lower_bound is " << lower << ", upper_bound is " << upper;
  if (bool(gamma) != (getActType() == "prelu"))
    return relation.refuse(ErrorCode::E0319)
           << (gamma ? "has gamma, which belongs to act_type prelu" : "prelu needs gamma");
  for (Value value : {Value(getOutput()), gamma})
    if (value && failed(relation.sameType(data, value)))
      return failure();
  if (failed(relation.floatType(data)) || failed(relation.sameShape(data, getOutput())))
    return failure();
  // leaky_relu:gamma-shape
  if (!gamma || !relation.ranked(data))
    return success();
  if (failed(rankAtLeast(relation, data, 1)) || failed(relation.fixRank(gamma, 1)))
    return failure();
  if (relation.extent(gamma, 0) == 1)
    return success();
  return relation.equal(gamma, 0, data, relation.rank(data) == 1 ? 0 : 1, "elements");
}

//===---- linalg_gemm2, linalg_gemm -----------------------------------------------------------===//

template <typename Op> static LogicalResult relateGemm(ShapeRelation &relation, Op op) {
  Value a = op.getA(), b = op.getB(), output = op.getOutput();
  if (int64_t(op.getAxis()) != -2)
    return relation.refuse(ErrorCode::E0215) << "axis other than -2 is not built yet";
  for (int round = 0; round < 2; ++round)
    for (Value value : {b, output})
      if (failed(relation.sameType(a, value)))
        return failure();
  if (failed(relation.floatType(a)))
    return failure();
  if (!relation.ranked(a))
    return success();
  // linalg_gemm2:rank
  int64_t rank = relation.rank(a);
  if (failed(rankAtLeast(relation, a, 2)) || failed(relation.fixRank(b, rank)) ||
      failed(relation.fixRank(output, rank)))
    return failure();
  for (int64_t axis = 0; axis < rank - 2; ++axis)
    if (failed(relation.equal(a, axis, b, axis, onAxis(axis))) ||
        failed(relation.equal(output, axis, a, axis, onAxis(axis))))
      return failure();
  // linalg_gemm2:inner
  bool ta = op.getTransposeA(), tb = op.getTransposeB();
  int64_t rows = rank - (ta ? 1 : 2), innerA = rank - (ta ? 2 : 1);
  int64_t columns = rank - (tb ? 2 : 1), innerB = rank - (tb ? 1 : 2);
  if (failed(relation.equal(a, innerA, b, innerB, "to multiply")) ||
      failed(relation.equal(output, rank - 2, a, rows, "rows")))
    return failure();
  return relation.equal(output, rank - 1, b, columns, "columns");
}

LogicalResult LinalgGemm2Op::relateShapes(ShapeRelation &relation) {
  return relateGemm(relation, *this);
}
LogicalResult LinalgGemmOp::relateShapes(ShapeRelation &relation) {
  // linalg_gemm:same-shape
  if (failed(relation.sameType(getOutput(), getC())) ||
      failed(relation.sameShape(getOutput(), getC())))
    return failure();
  return relateGemm(relation, *this);
}

//===---- gather_nd ---------------------------------------------------------------------------===//

LogicalResult GatherNdOp::relateShapes(ShapeRelation &relation) {
  Value data = getData(), indices = getIndices(), output = getOutput();
  if (failed(relation.sameType(data, output)))
    return failure();
  if (!relation.ranked(data) || !relation.ranked(indices))
    return success();
  if (failed(rankAtLeast(relation, indices, 1)))
    return failure();
  int64_t depth = relation.extent(indices, 0), picked = relation.rank(indices) - 1;
  if (depth == kOpen)
    return success();
  // gather_nd:depth
  if (depth < 1 || depth > relation.rank(data))
    return relation.refuse(ErrorCode::E0207, {{data}, {indices, 0}})
           << relation.name(indices) << " has " << depth << " on axis 0, " << relation.name(data)
           << " has " << relation.rank(data) << (relation.rank(data) == 1 ? " axis" : " axes");
  // gather_nd:output-shape
  int64_t rank = picked + relation.rank(data) - depth;
  if (rank == 0)
    return relation.fixShape(output, {1}, "");
  if (failed(relation.fixRank(output, rank)))
    return failure();
  for (int64_t axis = 0; axis < rank; ++axis)
    if (failed(axis < picked
                   ? relation.equal(output, axis, indices, axis + 1, onAxis(axis))
                   : relation.equal(output, axis, data, axis - picked + depth, onAxis(axis))))
      return failure();
  return success();
}

//===---- scatter_nd --------------------------------------------------------------------------===//

LogicalResult ScatterNdOp::relateShapes(ShapeRelation &relation) {
  Value data = getData(), indices = getIndices(), output = getOutput();
  if (failed(relation.sameType(data, output)) || failed(relation.floatType(data)))
    return failure();
  // scatter_nd:shape
  for (int64_t extent : getShape())
    if (extent < 1)
      return relation.refuse(ErrorCode::E0206) << "dimension " << extent;
  if (failed(relation.fixShape(output, getShape(), "shape")))
    return failure();
  if (!relation.ranked(indices))
    return success();
  if (failed(rankAtLeast(relation, indices, 1)))
    return failure();
  int64_t depth = relation.extent(indices, 0), picked = relation.rank(indices) - 1;
  if (depth == kOpen)
    return success();
  // scatter_nd:depth
  int64_t rank = int64_t(getShape().size());
  if (depth < 1 || depth > rank)
    return relation.refuse(ErrorCode::E0207, {{indices, 0}})
           << relation.name(indices) << " has " << depth << " on axis 0, shape has " << rank
           << (rank == 1 ? " axis" : " axes");
  // scatter_nd:data-shape
  if (failed(relation.fixRank(data, picked + rank - depth)))
    return failure();
  for (int64_t axis = 0; axis < relation.rank(data); ++axis)
    if (failed(axis < picked
                   ? relation.equal(data, axis, indices, axis + 1, onAxis(axis))
                   : relation.equal(data, axis, output, axis - picked + depth, onAxis(axis))))
      return failure();
  return success();
}

//===---- diag --------------------------------------------------------------------------------===//

LogicalResult DiagOp::relateShapes(ShapeRelation &relation) {
  Value data = getData(), output = getOutput();
  constexpr int64_t kFar = int64_t(1) << 48; // no extent is larger
  int64_t k = std::clamp<int64_t>(getK(), -kFar, kFar);
  int64_t down = std::max<int64_t>(-k, 0), right = std::max<int64_t>(k, 0);
  if (failed(relation.sameType(data, output)))
    return failure();
  if (!relation.ranked(data))
    return success();
  int64_t rank = relation.rank(data);
  if (rank == 1) {
    if (relation.extent(data, 0) == kOpen)
      return success();
    int64_t size = lstmc::sum({relation.extent(data, 0), down, right});
    return relation.fixShape(output, {size, size}, "the diagonal");
  }
  // diag:axes
  SmallVector<int64_t> axes;
  for (auto [name, axis] :
       {std::pair("axis1", int64_t(getAxis1())), std::pair("axis2", int64_t(getAxis2()))}) {
    FailureOr<int64_t> at = axisOf(relation, data, axis, name);
    if (failed(at))
      return failure();
    axes.push_back(*at);
  }
  if (axes[0] == axes[1])
    return relation.refuse(ErrorCode::E0319) << "axis1 and axis2 are the same axis";
  if (failed(relation.fixRank(output, rank - 1)))
    return failure();
  for (int64_t axis = 0, at = 0; axis < rank; ++axis)
    if (!llvm::is_contained(axes, axis) &&
        failed(relation.equal(output, at++, data, axis, onAxis(axis))))
      return failure();
  int64_t rows = relation.extent(data, axes[0]), columns = relation.extent(data, axes[1]);
  if (rows == kOpen || columns == kOpen)
    return success();
  // diag:diagonal
  int64_t size = std::min(rows - std::min(rows, down), columns - std::min(columns, right));
  if (size < 1)
    return relation.refuse(ErrorCode::E0319, {{data}})
           << "diagonal k = " << k << " of " << rows << " rows and " << columns
           << " columns is empty";
  return relation.fix(output, rank - 2, size, "elements", "the diagonal");
}

//===---- cumsum ------------------------------------------------------------------------------===//

LogicalResult CumsumOp::relateShapes(ShapeRelation &relation) {
  Value a = getA(), output = getOutput();
  if (std::optional<StringRef> dtype = getDtype()) {
    if (failed(relation.fixType(output, elementType(getContext(), *dtype), "dtype")))
      return failure();
  } else if (failed(relation.sameType(a, output))) {
    return failure();
  }
  if (getAxis()) {
    // cumsum:axis
    if (relation.ranked(a) && failed(axisOf(relation, a, *getAxis(), "axis")))
      return failure();
    return relation.sameShape(a, output);
  }
  // cumsum:output-shape
  if (failed(relation.fixRank(output, 1)))
    return failure();
  return relation.ranked(a) ? relation.sameElements(output, 0, 1, a, 0, relation.rank(a))
                            : success();
}

} // namespace lstmc::sym
