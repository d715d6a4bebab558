// Expansion of the ops in ComposedOps.td, except einsum (Einsum.cpp).
#include <cmath>
#include <limits>
#include <map>

#include "ir/sym/Create.h"
#include "ir/sym/Expression.h"
#include "ir/sym/RuleSupport.h"

using namespace mlir;

namespace lstmc::sym {

using E = Expression;

namespace {

Type elementOf(Value value) { return rankedType(value).getElementType(); }

/// The value with a location of its own, if the expansion created no op.
Value unlessSame(OpBuilder &builder, Location loc, Value value, Value operand) {
  return value == operand ? Value(builder.create<CopyOp>(loc, value.getType(), value)) : value;
}

Value broadcastTo(OpBuilder &builder, Location loc, Value value, ArrayRef<int64_t> shape) {
  if (shapeOf(value) == shape)
    return value;
  return builder.create<BroadcastToOp>(loc, rankedType(value).clone(shape), value, shape);
}

/// `value` [n] as a tensor of the given rank, along one axis; the other extents are 1.
Value alongAxis(OpBuilder &builder, Location loc, Value value, int64_t rank, int64_t axis) {
  SmallVector<int64_t> shape(size_t(rank), 1);
  shape[size_t(axis)] = shapeOf(value)[0];
  return createReshape(builder, loc, value, shape);
}

} // namespace

Value AmpCastOp::writtenOut(OpBuilder &builder) {
  return builder.create<CopyOp>(getLoc(), getType(), getData());
}

//===---- shapes after another tensor ---------------------------------------------------------===//

Value ReshapeLikeOp::writtenOut(OpBuilder &builder) {
  Value y = createReshape(builder, getLoc(), getLhs(), shapeOf(getOutput()));
  return unlessSame(builder, getLoc(), y, getLhs());
}

Value BroadcastLikeOp::writtenOut(OpBuilder &builder) {
  Value y = broadcastTo(builder, getLoc(), getLhs(), shapeOf(getOutput()));
  return unlessSame(builder, getLoc(), y, getLhs());
}

Value SliceLikeOp::writtenOut(OpBuilder &builder) {
  Value y = getData();
  for (auto [axis, extent] : llvm::enumerate(shapeOf(getOutput())))
    if (extent != shapeOf(y)[axis])
      y = createSliceAxis(builder, getLoc(), y, int64_t(axis), 0, extent);
  return unlessSame(builder, getLoc(), y, getData());
}

Value ArangeLikeOp::writtenOut(OpBuilder &builder) {
  auto type = rankedType(getOutput());
  int64_t count = type.getNumElements(), repeat = int64_t(getRepeat());
  int64_t numbers = (count + repeat - 1) / repeat;
  std::string_view dtype = dtypeLongName(*dtypeOf(type.getElementType()));
  auto made = RankedTensorType::get({numbers * repeat}, type.getElementType());
  Value value = builder.create<ArangeOp>(
      getLoc(), made, builder.getF64FloatAttr(0), builder.getF64FloatAttr(double(numbers)),
      builder.getF64FloatAttr(1), builder.getI64IntegerAttr(repeat), builder.getBoolAttr(false),
      builder.getStringAttr(""), builder.getStringAttr(StringRef(dtype.data(), dtype.size())));
  if (numbers * repeat > count)
    value = createSliceAxis(builder, getLoc(), value, 0, 0, count);
  E number{createReshape(builder, getLoc(), value, type.getShape()), &builder};
  return (number * getStep().convertToDouble() + getStart().convertToDouble()).value;
}

//===---- the smallest ------------------------------------------------------------------------===//

Value ArgminOp::writtenOut(OpBuilder &builder) {
  Value negative = builder.create<NegativeOp>(getLoc(), getData().getType(), getData());
  return builder.create<ArgmaxOp>(getLoc(), getType(), negative, getAxisAttr(), getKeepdimsAttr());
}

Value ArgmaxChannelOp::writtenOut(OpBuilder &builder) {
  return builder.create<ArgmaxOp>(getLoc(), getType(), getData(), builder.getI64IntegerAttr(1),
                                  builder.getBoolAttr(false));
}

Value SoftminOp::writtenOut(OpBuilder &builder) {
  Value negative = builder.create<NegativeOp>(getLoc(), getData().getType(), getData());
  return builder.create<SoftmaxOp>(getLoc(), getType(), negative, getLength(), getAxisAttr(),
                                   getTemperatureAttr(), getDtypeAttr(), getUseLengthAttr());
}

//===---- normalisation -----------------------------------------------------------------------===//

Value L2NormalizationOp::writtenOut(OpBuilder &builder) {
  SmallVector<int64_t> axes, column(shapeOf(getData()));
  int64_t first = getMode() == "spatial" ? 2 : 1;
  int64_t end = getMode() == "channel" ? 2 : rankOf(getData());
  for (int64_t axis = first; axis < end; ++axis) {
    axes.push_back(axis);
    column[size_t(axis)] = 1;
  }
  E x{getData(), &builder};
  Value squares = builder.create<SumOp>(getLoc(), rankedType(getData()).clone(column),
                                        (x * x).value, builder.getDenseI64ArrayAttr(axes),
                                        builder.getBoolAttr(true), builder.getBoolAttr(false));
  E norm = (E{squares, &builder} + getEps().convertToDouble()).of<SqrtOp>();
  return builder.create<BroadcastDivOp>(getLoc(), getType(), getData(), norm.value);
}

Value InstanceNormOp::writtenOut(OpBuilder &builder) {
  SmallVector<int64_t> axes, kept(shapeOf(getData())), channels(size_t(rankOf(getData())), 1);
  channels[1] = kept[1];
  for (int64_t axis = 2; axis < rankOf(getData()); ++axis) {
    axes.push_back(axis);
    kept[size_t(axis)] = 1;
  }
  auto mean = [&](Value value) -> Value {
    return builder.create<MeanOp>(getLoc(), rankedType(value).clone(kept), value,
                                  builder.getDenseI64ArrayAttr(axes), builder.getBoolAttr(true),
                                  builder.getBoolAttr(false));
  };
  E centred{builder.create<BroadcastSubOp>(getLoc(), getType(), getData(), mean(getData())),
            &builder};
  E variance{mean((centred * centred).value), &builder};
  E deviation = (variance + getEps().convertToDouble()).of<SqrtOp>();
  Value y = builder.create<BroadcastDivOp>(getLoc(), getType(), centred.value, deviation.value);
  y = builder.create<BroadcastMulOp>(getLoc(), getType(), y,
                                     createReshape(builder, getLoc(), getGamma(), channels));
  return builder.create<BroadcastAddOp>(getLoc(), getType(), y,
                                        createReshape(builder, getLoc(), getBeta(), channels));
}

Value DivSqrtDimOp::writtenOut(OpBuilder &builder) {
  return (E{getData(), &builder} / std::sqrt(double(shapeOf(getData()).back()))).value;
}

Value SoftmaxActivationOp::writtenOut(OpBuilder &builder) {
  ArrayRef<int64_t> shape = shapeOf(getData());
  Value x = getData();
  if (getMode() == "instance")
    x = createReshape(builder, getLoc(), x, {shape[0], product(shape.drop_front())});
  Value y =
      builder.create<SoftmaxOp>(getLoc(), x.getType(), x, Value(), builder.getI64IntegerAttr(1),
                                FloatAttr(), StringAttr(), builder.getBoolAttr(false));
  return createReshape(builder, getLoc(), y, shape);
}

//===---- rectifiers --------------------------------------------------------------------------===//

/// slope * (exp(x) - 1) for x <= 0. For other x, whose result is discarded, the exponent is
/// clipped, so that neither it nor its gradient is infinite.
static E exponentialBelow(E x, double slope) {
  return x.withScalar<MinimumScalarOp>(0).of<Expm1Op>() * slope;
}

Value LeakyReluOp::writtenOut(OpBuilder &builder) {
  E x{getData(), &builder}, above = x, below = x;
  double slope = getSlope().convertToDouble();
  StringRef type = getActType();
  if (type == "gelu")
    return x.of<GeluOp>().value;
  if (type == "leaky") {
    below = x * slope;
  } else if (type == "prelu") {
    int64_t rank = rankOf(getData());
    Value gamma = alongAxis(builder, getLoc(), getGamma(), rank, rank == 1 ? 0 : 1);
    below.value = builder.create<BroadcastMulOp>(getLoc(), getType(), getData(), gamma);
  } else if (type == "rrelu") {
    // Outside of training dropout is the identity, here of the middle of the range.
    double lower = getLowerBound().convertToDouble(), upper = getUpperBound().convertToDouble();
    E half = x.of<ZerosLikeOp>() + 0.5;
    E way{createUniform(builder, getLoc(), half.value, "training"), &builder};
    below = x * (way * (upper - lower) + lower);
  } else if (type == "elu") {
    below = exponentialBelow(x, slope);
  } else { // selu
    constexpr double kScale = 1.0507009873554805, kSlope = 1.6732632423543772;
    above = x * kScale;
    below = exponentialBelow(x, kScale * kSlope);
  }
  return builder.create<WhereOp>(getLoc(), getType(), (x > 0.0).value, above.value, below.value);
}

//===---- products ----------------------------------------------------------------------------===//

/// For two matrices a dot, whose sums over rows of the batch are by shards.
template <typename Op> static E gemm(Op op, OpBuilder &builder) {
  auto type = op.getType();
  Value product =
      rankOf(op.getA()) == 2
          ? Value(builder.create<DotOp>(op.getLoc(), type, op.getA(), op.getB(),
                                        op.getTransposeAAttr(), op.getTransposeBAttr()))
          : Value(builder.create<BatchDotOp>(op.getLoc(), type, op.getA(), op.getB(),
                                             op.getTransposeAAttr(), op.getTransposeBAttr()));
  E result{product, &builder};
  double alpha = op.getAlpha().convertToDouble();
  return alpha == 1 ? result : result * alpha;
}

Value LinalgGemm2Op::writtenOut(OpBuilder &builder) { return gemm(*this, builder).value; }
Value LinalgGemmOp::writtenOut(OpBuilder &builder) {
  return (gemm(*this, builder) + E{getC(), &builder} * getBeta().convertToDouble()).value;
}

//===---- elements by index -------------------------------------------------------------------===//

Value BatchTakeOp::writtenOut(OpBuilder &builder) {
  return builder.create<PickOp>(getLoc(), getType(), getA(), getIndices(),
                                builder.getI64IntegerAttr(1), builder.getBoolAttr(false),
                                builder.getStringAttr("clip"));
}

/// 0 to count - 1.
static Value createNumbers(OpBuilder &builder, Location loc, int64_t count, Type element) {
  std::string_view dtype = dtypeLongName(*dtypeOf(element));
  return builder.create<ArangeOp>(
      loc, RankedTensorType::get({count}, element), builder.getF64FloatAttr(0),
      builder.getF64FloatAttr(double(count)), builder.getF64FloatAttr(1),
      builder.getI64IntegerAttr(1), builder.getBoolAttr(false), builder.getStringAttr(""),
      builder.getStringAttr(StringRef(dtype.data(), dtype.size())));
}

/// Clips each row of `indices` [M, ...] to 0 .. extent - 1. Implemented as a take from a table of
/// these numbers, so that indices outside are detected and counted as those of take.
static Value createInside(OpBuilder &builder, Location loc, Value indices, int64_t extent) {
  const Type narrow = builder.getI32Type(), wide = builder.getI64Type();
  const bool fits = extent <= std::numeric_limits<int32_t>::max();
  Value table = createNumbers(builder, loc, extent, fits ? narrow : wide);
  Value inside =
      builder.create<TakeOp>(loc, rankedType(table).clone(shapeOf(indices)), table, indices,
                             builder.getI64IntegerAttr(0), builder.getStringAttr("clip"));
  return createCast(builder, loc, inside, wide);
}

/// Linear indices of the elements that `indices` [M, ...] select in the first M of `extents`, each
/// index clipped to its extent.
static Value positionsOf(OpBuilder &builder, Location loc, Value indices,
                         ArrayRef<int64_t> extents) {
  SmallVector<int64_t> picked(shapeOf(indices).drop_front());
  if (picked.empty())
    picked.push_back(1);
  const int64_t depth = shapeOf(indices)[0];
  std::map<int64_t, SmallVector<int64_t>>
      axesOf; // extents to the axes that have them; these are looked up together
  for (int64_t axis = 0; axis < depth; ++axis)
    axesOf[extents[size_t(axis)]].push_back(axis);
  SmallVector<Value> inside{size_t(depth), Value()};
  for (const auto &[extent, axes] : axesOf) {
    SmallVector<Value> rows;
    for (int64_t axis : axes)
      rows.push_back(createSliceAxis(builder, loc, indices, 0, axis, axis + 1));
    Value all = createInside(
        builder, loc, axesOf.size() == 1 ? indices : createConcat(builder, loc, rows, 0), extent);
    for (auto [i, axis] : llvm::enumerate(axes))
      inside[size_t(axis)] = createSliceAxis(builder, loc, all, 0, int64_t(i), int64_t(i) + 1);
  }
  E position{Value(), &builder};
  for (int64_t axis = 0; axis < depth; ++axis) {
    E index{createReshape(builder, loc, inside[size_t(axis)], picked), &builder};
    int64_t stride = product(extents.slice(size_t(axis) + 1, size_t(depth - axis - 1)));
    index = index * double(stride);
    position = axis == 0 ? index : position + index;
  }
  return position.value;
}

Value GatherNdOp::writtenOut(OpBuilder &builder) {
  ArrayRef<int64_t> extents = shapeOf(getData());
  int64_t depth = shapeOf(getIndices())[0];
  Value positions = positionsOf(builder, getLoc(), getIndices(), extents);
  ArrayRef<int64_t> picked = shapeOf(positions);
  SmallVector<int64_t> flat{product(extents.take_front(size_t(depth)))}, result(picked);
  flat.append(extents.begin() + depth, extents.end());
  result.append(extents.begin() + depth, extents.end());
  Value rows = createReshape(builder, getLoc(), getData(), flat);
  Value y = builder.create<TakeOp>(getLoc(), rankedType(getData()).clone(result), rows, positions,
                                   builder.getI64IntegerAttr(0), builder.getStringAttr("clip"));
  return createReshape(builder, getLoc(), y, shapeOf(getOutput()));
}

Value ScatterNdOp::writtenOut(OpBuilder &builder) {
  ArrayRef<int64_t> extents = shapeOf(getOutput());
  int64_t depth = shapeOf(getIndices())[0];
  int64_t rows = product(extents.take_front(size_t(depth)));
  int64_t inRow = product(extents.drop_front(size_t(depth)));
  Value positions = positionsOf(builder, getLoc(), getIndices(), extents);
  int64_t count = product(shapeOf(positions));
  positions = createReshape(builder, getLoc(), positions, {count});
  auto type = rankedType(getData());
  std::string_view dtype = dtypeLongName(*dtypeOf(type.getElementType()));
  Value chosen = builder.create<OneHotOp>(
      getLoc(), type.clone({count, rows}), positions, builder.getI64IntegerAttr(rows),
      builder.getF64FloatAttr(1), builder.getF64FloatAttr(0),
      builder.getStringAttr(StringRef(dtype.data(), dtype.size())));
  Value data = createReshape(builder, getLoc(), getData(), {count, inRow});
  Value y = builder.create<DotOp>(getLoc(), type.clone({rows, inRow}), chosen, data,
                                  builder.getBoolAttr(true), builder.getBoolAttr(false));
  return createReshape(builder, getLoc(), y, extents);
}

/// The matrix with `diagonal` [n] on diagonal k: builds rows of n + |k| + 1 elements that start
/// with the diagonal's element, and reads them as rows with one element less.
static Value matrixOf(OpBuilder &builder, Location loc, Value diagonal, int64_t k) {
  int64_t n = shapeOf(diagonal)[0], size = n + std::abs(k);
  auto zeros = [&](ArrayRef<int64_t> shape) {
    return createZeros(builder, loc, rankedType(diagonal).clone(shape));
  };
  Value rows = createConcat(builder, loc,
                            {createReshape(builder, loc, diagonal, {n, 1}), zeros({n, size})}, 1);
  SmallVector<Value> parts;
  if (k != 0)
    parts.push_back(zeros({k > 0 ? k : -k * size}));
  parts.push_back(createReshape(builder, loc, rows, {n * (size + 1)}));
  int64_t length = n * (size + 1) + (k > 0 ? k : -k * size);
  if (length < size * size)
    parts.push_back(zeros({size * size - length}));
  Value flat = createConcat(builder, loc, parts, 0);
  if (length > size * size)
    flat = createSliceAxis(builder, loc, flat, 0, 0, size * size);
  return createReshape(builder, loc, flat, {size, size});
}

Value DiagOp::writtenOut(OpBuilder &builder) {
  int64_t k = getK(), rank = rankOf(getData());
  if (rank == 1)
    return matrixOf(builder, getLoc(), getData(), k);
  int64_t first = normalAxis(getAxis1(), rank), second = normalAxis(getAxis2(), rank);
  SmallVector<int64_t> order, flat;
  for (int64_t axis = 0; axis < rank; ++axis)
    if (axis != first && axis != second)
      order.push_back(axis);
  order.append({first, second});
  Value x = createTranspose(builder, getLoc(), getData(), order);
  ArrayRef<int64_t> shape = shapeOf(x);
  int64_t columns = shape.back(), size = shapeOf(getOutput()).back();
  int64_t begin = k > 0 ? k : -k * columns, end = begin + (size - 1) * (columns + 1) + 1;
  flat = {product(shape.drop_back(2)), shape[shape.size() - 2] * columns};
  x = createReshape(builder, getLoc(), x, flat);
  auto entries = [&](int64_t value) {
    return builder.getArrayAttr({builder.getUnitAttr(), builder.getI64IntegerAttr(value)});
  };
  Value y = builder.create<SliceOp>(getLoc(), rankedType(x).clone({flat[0], size}), x,
                                    entries(begin), entries(end), entries(columns + 1));
  return createReshape(builder, getLoc(), y, shapeOf(getOutput()));
}

//===---- running sums ------------------------------------------------------------------------===//

Value CumsumOp::writtenOut(OpBuilder &builder) {
  Value y = createCast(builder, getLoc(), getA(), elementOf(getOutput()));
  y = createReshape(builder, getLoc(), y, shapeOf(getOutput()));
  int64_t axis = getAxis() ? normalAxis(*getAxis(), rankOf(y)) : 0;
  int64_t count = shapeOf(y)[size_t(axis)];
  for (int64_t distance = 1; distance < count; distance *= 2) {
    auto part = [&](int64_t begin, int64_t end) {
      return createSliceAxis(builder, getLoc(), y, axis, begin, end);
    };
    Value first = part(0, distance);
    E later = E{part(distance, count), &builder} + E{part(0, count - distance), &builder};
    y = createConcat(builder, getLoc(), {first, later.value}, axis);
  }
  return unlessSame(builder, getLoc(), y, getA());
}

} // namespace lstmc::sym
