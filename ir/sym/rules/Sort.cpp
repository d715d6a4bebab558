// Shapes of the ops in SortOps.td, and their expansion to a network of comparisons.
#include "llvm/Support/MathExtras.h"

#include "ir/sym/Create.h"
#include "ir/sym/Expression.h"
#include "ir/sym/RuleSupport.h"

using namespace mlir;

namespace lstmc::sym {

using E = Expression;

//===---- shapes ------------------------------------------------------------------------------===//

/// The axis, counted from 0. The network of comparisons and the time to build it grow with its
/// extent.
static FailureOr<int64_t> sortedAxis(ShapeRelation &relation, Value data, int64_t axis) {
  constexpr int64_t kMost = int64_t(1) << 31;
  FailureOr<int64_t> found = axisOf(relation, data, axis, "axis");
  if (failed(found))
    return failure();
  // sort:extent, argsort:extent, topk:extent
  if (int64_t extent = relation.extent(data, *found); extent != kOpen && extent > kMost)
    return LogicalResult(relation.refuse(ErrorCode::E0402, {{data, *found}})
                         << relation.name(data) << " has " << extent << " elements on axis "
                         << *found << ", at most " << kMost << " are put in order");
  return found;
}

LogicalResult SortOp::relateShapes(ShapeRelation &relation) {
  // sort:axis
  if (relation.ranked(getData()) && failed(sortedAxis(relation, getData(), getAxis())))
    return failure();
  return relateEqual(relation, *this, Numbers::Any);
}

LogicalResult ArgsortOp::relateShapes(ShapeRelation &relation) {
  // argsort:axis
  if (relation.ranked(getData()) && failed(sortedAxis(relation, getData(), getAxis())))
    return failure();
  if (failed(relation.fixType(getOutput(), elementType(getContext(), getDtype()), "dtype")))
    return failure();
  return relation.sameShape(getData(), getOutput());
}

int64_t TopkOp::resultCount(DictionaryAttr attributes) {
  auto what = attributes.getAs<StringAttr>("ret_typ");
  return what && what.getValue() == "both" ? 2 : 1;
}

/// One output: its type, and k elements at the axis.
static LogicalResult relateTop(ShapeRelation &relation, TopkOp op, Value output, bool isIndex) {
  Value data = op.getData();
  if (failed(isIndex
                 ? relation.fixType(output, elementType(op.getContext(), op.getDtype()), "dtype")
                 : relation.sameType(data, output)))
    return failure();
  if (!relation.ranked(data))
    return success();
  // topk:axis
  FailureOr<int64_t> axis = sortedAxis(relation, data, op.getAxis());
  if (failed(axis))
    return failure();
  // topk:k
  int64_t extent = relation.extent(data, *axis), k = op.getK();
  if (extent != kOpen && k > extent)
    return relation.refuse(ErrorCode::E0319, {{data, *axis}})
           << "k is " << k << ", " << relation.name(data) << " has " << extent << " on axis "
           << *axis;
  if (op.getRetTyp() == "mask" || k < 1)
    return relation.sameShape(data, output);
  if (failed(relation.fixRank(output, relation.rank(data))))
    return failure();
  for (int64_t i = 0; i < relation.rank(data); ++i)
    if (failed(i == *axis ? relation.fix(output, i, k, "elements", "k")
                          : relation.equal(output, i, data, i, "on axis " + std::to_string(i))))
      return failure();
  return success();
}

LogicalResult TopkOp::relateShapes(ShapeRelation &relation) {
  // topk:outputs
  auto outputs = getOutputs();
  const int64_t count = resultCount((*this)->getAttrDictionary());
  if (int64_t(outputs.size()) != count)
    return relation.refuse(ErrorCode::E0319) << "ret_typ " << getRetTyp() << " has " << count
                                             << " outputs, found " << int64_t(outputs.size());
  for (auto [i, output] : llvm::enumerate(outputs))
    if (failed(relateTop(relation, *this, output, getRetTyp() == "indices" || i == 1)))
      return failure();
  return success();
}

//===---- the network -------------------------------------------------------------------------===//

namespace {

/// Sorts columns of numbers along their last axis by the first two: the keys, and numbers that
/// order equal keys. Batcher's bitonic network, with the second half of each merge reversed, so
/// that every comparison has the same direction; the extent is a power of two.
class SortingNetwork {
public:
  SortingNetwork(OpBuilder &builder, Location loc, bool ascends)
      : builder_(builder), loc_(loc), ascends_(ascends) {}

  void sort(SmallVectorImpl<Value> &columns) {
    int64_t count = shapeOf(columns[0]).back();
    for (int64_t width = 1; width < count; width *= 2) {
      round(columns, width, true);
      for (int64_t distance = width / 2; distance >= 1; distance /= 2)
        round(columns, distance, false);
    }
  }

private:
  /// Compares the two halves of each group of 2 * width; `mirrored`: the second from its end.
  void round(SmallVectorImpl<Value> &columns, int64_t width, bool mirrored) {
    SmallVector<int64_t> whole(shapeOf(columns[0])), groups(whole);
    groups.pop_back();
    groups.append({whole.back() / (2 * width), 2, width});
    int64_t half = int64_t(groups.size()) - 2;
    SmallVector<E> first, second;
    for (Value column : columns) {
      Value grouped = createReshape(builder_, loc_, column, groups);
      first.push_back(part(grouped, half, 0));
      second.push_back(turned(part(grouped, half, 1), mirrored && width > 1));
    }
    Value inOrder = before(first, second).value;
    for (size_t i = 0; i < columns.size(); ++i) {
      E low = choose(inOrder, first[i], second[i]), high = choose(inOrder, second[i], first[i]);
      Value both = createConcat(builder_, loc_,
                                {low.value, turned(high, mirrored && width > 1).value}, half);
      columns[i] = createReshape(builder_, loc_, both, whole);
    }
  }

  E part(Value grouped, int64_t axis, int64_t at) {
    return {createSliceAxis(builder_, loc_, grouped, axis, at, at + 1), &builder_};
  }
  E turned(E value, bool turns) {
    if (!turns)
      return value;
    int64_t last = rankOf(value.value) - 1;
    return value.make<ReverseOp>(value.value, builder_.getDenseI64ArrayAttr({last}));
  }
  /// 1 where the first operand precedes the second.
  E before(ArrayRef<E> first, ArrayRef<E> second) {
    E ahead = ascends_ ? first[0].with<LesserOp>(second[0]) : first[0].with<GreaterOp>(second[0]);
    E equal = first[0].with<EqualOp>(second[0]);
    Type type = rankedType(first[1].value).getElementType();
    E earlier = first[1].with<LesserOp>(second[1]);
    auto asNumbers = [&](E value) {
      return E{createCast(builder_, loc_, value.value, type), &builder_};
    };
    return asNumbers(ahead) + asNumbers(equal) * earlier;
  }
  E choose(Value condition, E then, E otherwise) {
    return {builder_.create<WhereOp>(loc_, then.value.getType(), condition, then.value,
                                     otherwise.value),
            &builder_};
  }

  OpBuilder &builder_;
  Location loc_;
  bool ascends_;
};

/// Data with the axis to sort in last place, sorted together with the indices of its elements.
class SortedAxis {
public:
  SortedAxis(OpBuilder &builder, Location loc, Value data, int64_t axis, bool ascends)
      : builder_(builder), loc_(loc), axis_(normalAxis(axis, rankOf(data))) {
    data = moved(data);
    count_ = shapeOf(data).back();
    padded_ = int64_t(llvm::PowerOf2Ceil(uint64_t(count_)));
    Value keys = padded(data, ascends);
    index_ =
        rankedType(keys).clone(count_ < (1 << 24) ? builder.getF32Type() : builder.getF64Type());
    columns_ = {keys, numbers()};
    SortingNetwork(builder, loc, ascends).sort(columns_);
  }

  Value values(int64_t k) { return placed(columns_[0], k); }
  Value indices(int64_t k, Type type) {
    return placed(createCast(builder_, loc_, columns_[1], type), k);
  }
  /// 1 at the first k elements in order: flags by position, sorted back by index.
  Value mask(int64_t k, Type type) {
    Value position = numbers();
    E first = E{position, &builder_} < double(k);
    SmallVector<Value> back{columns_[1], position, first.value};
    SortingNetwork(builder_, loc_, true).sort(back);
    return placed(createCast(builder_, loc_, back[2], type), count_);
  }

private:
  /// Exchanges the axis to sort with the last axis.
  Value moved(Value value) {
    SmallVector<int64_t> order;
    for (int64_t i = 0; i < rankOf(value); ++i)
      order.push_back(i);
    if (axis_ + 1 == int64_t(order.size()))
      return value;
    std::swap(order[size_t(axis_)], order.back());
    return createTranspose(builder_, loc_, value, order);
  }
  Value placed(Value value, int64_t k) {
    int64_t last = rankOf(value) - 1;
    if (shapeOf(value).back() != k)
      value = createSliceAxis(builder_, loc_, value, last, 0, k);
    return moved(value);
  }

  /// Pads with the value that is last in order; among equal ones the data come first, because their
  /// indices are smaller.
  Value padded(Value data, bool ascends) {
    if (padded_ == count_)
      return data;
    int64_t last = rankOf(data) - 1;
    SmallVector<int64_t> column(shapeOf(data)), more(column);
    column.back() = 1;
    more.back() = padded_ - count_;
    auto type = rankedType(data).clone(column);
    auto axis = builder_.getDenseI64ArrayAttr({last});
    BoolAttr yes = builder_.getBoolAttr(true), no = builder_.getBoolAttr(false);
    Value end = ascends ? Value(builder_.create<MaxOp>(loc_, type, data, axis, yes, no))
                        : Value(builder_.create<MinOp>(loc_, type, data, axis, yes, no));
    end = builder_.create<BlockGradOp>(loc_, type, end);
    if (more.back() > 1)
      end = builder_.create<BroadcastToOp>(loc_, rankedType(data).clone(more), end, more);
    return createConcat(builder_, loc_, {data, end}, last);
  }

  /// 0, 1, ... along the last axis.
  Value numbers() {
    Type element = index_.getElementType();
    Value range = builder_.create<ArangeOp>(
        loc_, RankedTensorType::get({padded_}, element), builder_.getF64FloatAttr(0),
        builder_.getF64FloatAttr(double(padded_)), builder_.getF64FloatAttr(1),
        builder_.getI64IntegerAttr(1), builder_.getBoolAttr(false), builder_.getStringAttr(""),
        builder_.getStringAttr(element.isF32() ? "float32" : "float64"));
    SmallVector<int64_t> row(size_t(index_.getRank()), 1);
    row.back() = padded_;
    range = createReshape(builder_, loc_, range, row);
    if (ArrayRef<int64_t>(row) == index_.getShape())
      return range;
    return builder_.create<BroadcastToOp>(loc_, index_, range, index_.getShape());
  }

  OpBuilder &builder_;
  Location loc_;
  int64_t axis_, count_ = 0, padded_ = 0;
  RankedTensorType index_;
  SmallVector<Value> columns_;
};

} // namespace

Value SortOp::writtenOut(OpBuilder &builder) {
  SortedAxis sorted(builder, getLoc(), getData(), getAxis(), getIsAscend());
  Value y = sorted.values(shapeOf(getData())[size_t(normalAxis(getAxis(), rankOf(getData())))]);
  return y == getData() ? Value(builder.create<CopyOp>(getLoc(), y.getType(), y)) : y;
}

Value ArgsortOp::writtenOut(OpBuilder &builder) {
  SortedAxis sorted(builder, getLoc(), getData(), getAxis(), getIsAscend());
  return sorted.indices(shapeOf(getData())[size_t(normalAxis(getAxis(), rankOf(getData())))],
                        rankedType(getOutput()).getElementType());
}

SmallVector<Value> TopkOp::writtenOutAll(OpBuilder &builder) {
  SortedAxis sorted(builder, getLoc(), getData(), getAxis(), getIsAscend());
  int64_t extent = shapeOf(getData())[size_t(normalAxis(getAxis(), rankOf(getData())))];
  int64_t k = int64_t(getK()) < 1 ? extent : int64_t(getK());
  Type type = rankedType(getOutputs().back()).getElementType();
  if (getRetTyp() == "indices")
    return {sorted.indices(k, type)};
  if (getRetTyp() == "mask")
    return {sorted.mask(k, type)};
  Value y = sorted.values(k);
  if (y == getData())
    y = builder.create<CopyOp>(getLoc(), y.getType(), y);
  if (getRetTyp() == "both")
    return {y, sorted.indices(k, type)};
  return {y};
}
Value TopkOp::writtenOut(OpBuilder &builder) { return writtenOutAll(builder).front(); }

} // namespace lstmc::sym
