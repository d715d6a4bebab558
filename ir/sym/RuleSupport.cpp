#include "ir/sym/RuleSupport.h"
#include "ir/sym/Extents.h"

#include "ir/sym/Attributes.h"
#include "ir/sym/DimNames.h"
#include "ir/sym/OpText.h"

using namespace mlir;

namespace lstmc::sym {

//===---- shapes ------------------------------------------------------------------------------===//

/// Whether nothing remains to be inferred: all types are equal and complete.
static bool settled(Operation *op, Numbers numbers) {
  auto first = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!first || !first.hasStaticShape() || isa<OpenType>(first.getElementType()) ||
      (numbers == Numbers::Float && !isa<FloatType>(first.getElementType())))
    return false;
  for (Value operand : op->getOperands())
    if (operand.getType() != first)
      return false;
  return true;
}

/// Whether the shapes, which differ, broadcast to one another by NumPy's rule, from the last axis
/// on.
static bool stretch(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  if (a == b)
    return false;
  for (; !a.empty() && !b.empty(); a = a.drop_back(), b = b.drop_back())
    if (a.back() == kOpen || b.back() == kOpen ||
        (a.back() != b.back() && a.back() != 1 && b.back() != 1))
      return false;
  return true;
}

/// E0207 for an op on equal shapes that was called instead of an operator that broadcasts.
static LogicalResult checkStretch(ShapeRelation &relation, Value a, Value b) {
  if (!relation.ranked(a) || !relation.ranked(b)) // which loads both, so that neither moves
    return success();
  if (!stretch(relation.extents(a), relation.extents(b)) || !relation.type(a) ||
      relation.type(a) != relation.type(b))
    return success();
  auto text = [&](Value value) {
    return typeText(RankedTensorType::get(relation.extents(value), relation.type(value)));
  };
  auto error = relation.refuse(ErrorCode::E0207, {{a}, {b}});
  error << relation.name(a) << " is " << text(a) << ", " << relation.name(b) << " is " << text(b);
  error.help("operators such as + stretch these shapes to one another, as NumPy's do");
  return failure();
}

LogicalResult relateEqual(ShapeRelation &relation, Operation *op, Numbers numbers) {
  if (!relation.naming() && settled(op, numbers))
    return success();
  if (!relation.naming() && op->getNumOperands() == 2 &&
      failed(checkStretch(relation, op->getOperand(0), op->getOperand(1))))
    return failure();
  Value first = op->getNumOperands() ? op->getOperand(0) : op->getResult(0);
  // Runs twice, so that facts about a later value reach earlier ones through the first value.
  for (int round = 0; round < 2; ++round) {
    for (Value operand : op->getOperands())
      if (operand != first &&
          (failed(relation.sameType(first, operand)) || failed(relation.sameShape(first, operand))))
        return failure();
    for (Value result : op->getResults())
      if (result != first &&
          (failed(relation.sameType(first, result)) || failed(relation.sameShape(first, result))))
        return failure();
  }
  return numbers == Numbers::Float ? relation.floatType(first) : success();
}

/// One axis of lhs, rhs and result.
static LogicalResult relateStretch(ShapeRelation &relation, Value lhs, Value rhs, Value output,
                                   int64_t axis) {
  int64_t a = relation.extent(lhs, axis), b = relation.extent(rhs, axis),
          y = relation.extent(output, axis);
  if (a != kOpen && b != kOpen && a != b && a != 1 && b != 1)
    return relation.refuse(ErrorCode::E0207, {{lhs, axis}, {rhs, axis}})
           << relation.name(lhs) << " has " << a << " on axis " << axis << ", "
           << relation.name(rhs) << " has " << b;
  int64_t known = a != kOpen && a != 1   ? a
                  : b != kOpen && b != 1 ? b
                  : a == 1 && b == 1     ? 1
                                         : kOpen;
  std::string why = "broadcasting";
  if (failed(relation.fix(output, axis, known, "on axis " + std::to_string(axis), why)))
    return failure();
  y = relation.extent(output, axis);
  // Where one operand or the result has extent 1, the result and the other operand are equally
  // long.
  for (auto [operand, other] : {std::pair(lhs, b), std::pair(rhs, a)})
    if (relation.extent(operand, axis) == y ||
        ((other == 1 || y == 1) && relation.extent(operand, axis) == kOpen))
      if (failed(relation.equal(operand, axis, output, axis, "on axis " + std::to_string(axis))))
        return failure();
  return success();
}

LogicalResult relateBroadcast(ShapeRelation &relation, Operation *op, Numbers numbers) {
  Value lhs = op->getOperand(0), rhs = op->getOperand(1), output = op->getResult(0);
  if (failed(relation.sameType(lhs, rhs)) || failed(relation.sameType(lhs, output)) ||
      failed(relation.sameType(lhs, rhs)))
    return failure();
  if (numbers == Numbers::Float && failed(relation.floatType(lhs)))
    return failure();
  for (Value value : {lhs, rhs, output}) {
    if (!relation.ranked(value))
      continue;
    for (Value other : {lhs, rhs, output})
      if (relation.ranked(other) && relation.rank(other) != relation.rank(value)) {
        auto error = relation.refuse(ErrorCode::E0207, {{value}, {other}});
        error << relation.name(value) << " has " << relation.rank(value) << " axes, "
              << relation.name(other) << " has " << relation.rank(other);
        if (other != output)
          error.help("expand_dims(x, axis=0) puts an axis in front; operators such as + do so by "
                     "themselves, as NumPy's");
        return failure();
      } else if (failed(relation.fixRank(other, relation.rank(value))))
        return failure();
    break;
  }
  if (!relation.ranked(output))
    return success();
  for (int64_t axis = 0, end = relation.rank(output); axis < end; ++axis)
    if (failed(relateStretch(relation, lhs, rhs, output, axis)))
      return failure();
  return success();
}

FailureOr<int64_t> axisOf(ShapeRelation &relation, Value value, int64_t axis, StringRef attribute) {
  int64_t rank = relation.rank(value);
  if (axis >= -rank && axis < rank)
    return axis < 0 ? axis + rank : axis;
  (void)(relation.refuse(ErrorCode::E0319, {{value}})
         << attribute << " is " << axis << ", " << relation.name(value) << " has " << rank
         << (rank == 1 ? " axis" : " axes"));
  return failure();
}

FailureOr<SmallVector<int64_t>> axesOf(ShapeRelation &relation, Value value, ArrayRef<int64_t> axes,
                                       StringRef attribute) {
  SmallVector<int64_t> found;
  for (int64_t axis : axes) {
    FailureOr<int64_t> at = axisOf(relation, value, axis, attribute);
    if (failed(at))
      return failure();
    if (llvm::is_contained(found, *at)) {
      (void)(relation.refuse(ErrorCode::E0319) << attribute << " names axis " << *at << " twice");
      return failure();
    }
    found.push_back(*at);
  }
  llvm::sort(found);
  return found;
}

LogicalResult wideFloatType(ShapeRelation &relation, Value value) {
  Type type = relation.type(value);
  if (type && isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32)
    return relation.refuse(ErrorCode::E0215, {{value, kTypeAxis}})
           << relation.name(value) << " of " << dtypeLongName(*dtypeOf(type))
           << " is not built yet: cast it to float32 first, as with dtype(\"float32\"): around it "
              "does";
  return relation.floatType(value);
}

LogicalResult atLeast(ShapeRelation &relation, int64_t value, int64_t least, StringRef attribute) {
  if (value >= least)
    return success();
  return relation.refuse(ErrorCode::E0319)
         << attribute << " is " << value << ", wants at least " << least;
}

LogicalResult rankAtLeast(ShapeRelation &relation, Value value, int64_t least) {
  int64_t rank = relation.rank(value);
  if (rank >= least)
    return success();
  return relation.refuse(ErrorCode::E0207, {{value}})
         << relation.name(value) << " has " << rank << (rank == 1 ? " axis" : " axes")
         << ", wants at least " << least;
}

LogicalResult relateRemoved(ShapeRelation &relation, Value from, Value to, ArrayRef<int64_t> axes,
                            bool keep) {
  int64_t rank = relation.rank(from);
  int64_t left = keep ? rank : rank - int64_t(axes.size());
  if (left == 0)
    return relation.fixShape(to, {1}, "");
  if (failed(relation.fixRank(to, left)))
    return failure();
  for (int64_t axis = 0, at = 0; axis < rank; ++axis) {
    bool removed = llvm::is_contained(axes, axis);
    if (removed && !keep)
      continue;
    std::string noun = "on axis " + std::to_string(at);
    if (failed(removed ? relation.fix(to, at, 1, noun, "keepdims")
                       : relation.equal(to, at, from, axis, noun)))
      return failure();
    ++at;
  }
  return success();
}

int64_t product(ArrayRef<int64_t> extents) { return lstmc::product(extents); }

//===---- batch -------------------------------------------------------------------------------===//

BatchPosition firstBatch(ArrayRef<BatchPosition> operands) {
  for (const BatchPosition &position : operands)
    if (position)
      return position;
  return BatchPosition::none();
}

BatchPosition broadcastBatch(Operation *op, ArrayRef<BatchPosition> operands) {
  ArrayRef<int64_t> shape = shapeOf(op->getResult(0));
  for (const BatchPosition &position : operands)
    if (position && shape[position.axis] == position.outer * position.batch * position.inner)
      return position;
  return BatchPosition::none();
}

BatchPosition writtenBatch(Operation *op) {
  if (auto at = op->getAttrOfType<DenseI64ArrayAttr>(kBatchAtAttr)) {
    int64_t extent = shapeOf(op->getResult(0))[size_t(at[0])];
    return {int(at[0]), at[1], extent / (at[1] * at[2]), at[2]};
  }
  auto dims = op->getAttrOfType<ArrayAttr>(kDimsAttr);
  for (auto [axis, dim] : llvm::enumerate(dims ? dims.getValue() : ArrayRef<Attribute>()))
    if (cast<StringAttr>(dim).getValue() == kBatchDim)
      return {int(axis), 1, shapeOf(op->getResult(0))[axis], 1};
  return BatchPosition::none();
}

BatchPosition movedTo(BatchPosition position, int64_t axis) {
  if (!position || axis < 0)
    return BatchPosition::none();
  position.axis = axis;
  return position;
}

BatchPosition withAxis(BatchPosition position, int64_t axis, Value of, Value in) {
  if (position && position.axis >= axis && rankOf(of) < rankOf(in))
    ++position.axis;
  return unlessOn(position, axis);
}

BatchPosition unlessOn(BatchPosition position, int64_t axis) {
  return position.axis == axis ? BatchPosition::none() : position;
}

int64_t strideOfRows(Type type, BatchPosition position) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(type).getShape();
  return position.inner * product(shape.drop_front(size_t(position.axis) + 1));
}

BatchPosition withoutAxes(BatchPosition position, ArrayRef<int64_t> axes, bool keep) {
  if (!position || llvm::is_contained(axes, int64_t(position.axis)))
    return BatchPosition::none();
  if (keep)
    return position;
  return movedTo(position, position.axis - llvm::count_if(axes, [&](int64_t axis) {
                             return axis < position.axis;
                           }));
}

BatchPosition reshaped(BatchPosition position, ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  if (!position)
    return position;
  // In row-major order the batch repeats `before` times, each row of it `after` elements long.
  int64_t before = product(from.take_front(position.axis)) * position.outer;
  int64_t front = 1;
  for (int64_t axis = 0, end = to.size(); axis < end && before % front == 0; front *= to[axis++]) {
    int64_t outer = before / front;
    if (to[axis] % (outer * position.batch) == 0)
      return {int(axis), outer, position.batch, to[axis] / (outer * position.batch)};
  }
  return BatchPosition::none();
}

//===---- cost --------------------------------------------------------------------------------===//

int64_t elementsOf(Value value) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  return tensor && tensor.hasStaticShape() ? product(tensor.getShape()) : 0;
}

int64_t defaultFlops(Operation *op) {
  return sum(llvm::map_to_vector(op->getResults(), elementsOf));
}

int64_t defaultMovedBytes(Operation *op) {
  SmallVector<Value> seen(op->getResults());
  for (Value operand : op->getOperands())
    if (!llvm::is_contained(seen, operand))
      seen.push_back(operand);
  int64_t bytes = 0;
  for (Value value : seen)
    if (auto tensor = dyn_cast<TensorType>(value.getType()))
      if (std::optional<DType> dtype = dtypeOf(tensor.getElementType()))
        bytes = sum({bytes, product({elementsOf(value), int64_t(dtypeBytes(*dtype))})});
  return bytes;
}

int64_t elementwiseFlops(Operation *op) {
  return product({elementsOf(op->getResult(0)), std::max<int64_t>(1, op->getNumOperands() - 1)});
}

} // namespace lstmc::sym
