// Shapes and expansion of the ops in ConvolutionOps.td.
#include <limits>

#include "ir/sym/Create.h"
#include "ir/sym/Expression.h"
#include "ir/sym/RuleSupport.h"
#include "ir/sym/rules/Windows.h"

using namespace mlir;

namespace lstmc::sym {

using E = Expression;

namespace {

constexpr int64_t kMostExtents = 3; ///< after N and C
/// The largest attribute and the largest extent, so that no sum of them wraps.
constexpr int64_t kMostNumber = std::numeric_limits<int32_t>::max();
constexpr int64_t kMostExtent = std::numeric_limits<int64_t>::max() - (int64_t(1) << 33);

/// What a window does along one axis.
struct Step {
  int64_t kernel, stride, dilate;
  Padding pad;

  /// Elements from the first to the last that a window reads, both included.
  int64_t reach() const { return dilate * (kernel - 1) + 1; }
  /// Windows that fit; 0 or less: none.
  int64_t windows(int64_t extent, bool full = false) const {
    const int64_t rest = extent + pad.before + pad.after - reach();
    return rest < 0 ? 0 : (rest + (full ? stride - 1 : 0)) / stride + 1;
  }
};

SmallVector<Step> stepsOf(ConvolutionOp op) {
  SmallVector<Step> steps;
  for (auto [axis, kernel] : llvm::enumerate(op.getKernel())) {
    const int64_t pad = entryOf(op.getPad(), axis, 0);
    steps.push_back({kernel, entryOf(op.getStride(), axis, 1), entryOf(op.getDilate(), axis, 1),
                     Padding{pad, pad}});
  }
  return steps;
}

SmallVector<Step> stepsOf(PoolingOp op) {
  SmallVector<Step> steps;
  for (auto [axis, kernel] : llvm::enumerate(op.getKernel())) {
    const int64_t pad = entryOf(op.getPad(), axis, 0);
    steps.push_back({kernel, entryOf(op.getStride(), axis, 1), 1, Padding{pad, pad}});
  }
  return steps;
}

} // namespace

// ---- shapes ----

LogicalResult checkTuple(ShapeRelation &relation, ArrayRef<int64_t> tuple, size_t count,
                         int64_t least, StringRef name) {
  if (!tuple.empty() && tuple.size() != count)
    return relation.refuse(ErrorCode::E0319)
           << name << " has " << tuple.size() << " numbers, kernel has " << count;
  for (int64_t number : tuple) {
    if (failed(atLeast(relation, number, least, name)))
      return failure();
    if (number > kMostNumber)
      return relation.refuse(ErrorCode::E0319)
             << name << " is " << number << ", wants at most " << kMostNumber;
  }
  return success();
}

LogicalResult checkKernel(ShapeRelation &relation, ArrayRef<int64_t> kernel) {
  if (kernel.empty() || int64_t(kernel.size()) > kMostExtents)
    return relation.refuse(ErrorCode::E0319)
           << "kernel has " << kernel.size() << " numbers, wants 1 to " << kMostExtents;
  if (failed(checkTuple(relation, kernel, kernel.size(), 1, "kernel")))
    return failure();
  if (product(kernel) > kMostPositions)
    return relation.refuse(ErrorCode::E0215)
           << "a kernel of more than " << kMostPositions << " elements is not built yet";
  return success();
}

LogicalResult checkLayout(ShapeRelation &relation, StringRef layout, size_t extents) {
  if (layout == "None" || layout.size() == extents + 2)
    return success();
  return relation.refuse(ErrorCode::E0319)
         << "layout is " << layout << ", and the kernel has " << extents << " extents";
}

namespace {

/// Extents of `output` after N and C, from those of `data`.
LogicalResult relateWindows(ShapeRelation &relation, Value data, Value output, ArrayRef<Step> steps,
                            bool full) {
  for (auto [i, step] : llvm::enumerate(steps)) {
    const int64_t axis = int64_t(i) + 2, extent = relation.extent(data, axis);
    if (extent == kOpen)
      continue;
    if (extent > kMostExtent)
      return relation.refuse(ErrorCode::E0402, {{data, axis}})
             << "axis " << axis << " has more elements than 64 bits count";
    const int64_t windows = step.windows(extent, full);
    if (windows < 1)
      return relation.refuse(ErrorCode::E0207, {{data, axis}})
             << relation.name(data) << " has " << extent << " on axis " << axis
             << ", and with pad a window needs " << step.reach() - step.pad.before - step.pad.after;
    if (failed(relation.fix(output, axis, windows, "windows", "data")))
      return failure();
  }
  return success();
}

/// C of `data` and axis 1 of `weight`, of which a group has its part.
LogicalResult relateGroups(ShapeRelation &relation, ConvolutionOp op) {
  Value data = op.getData(), weight = op.getWeight();
  const auto groups = int64_t(op.getNumGroup());
  if (relation.ranked(data) && relation.extent(data, 1) != kOpen) {
    const int64_t channels = relation.extent(data, 1);
    if (channels % groups != 0)
      return relation.refuse(ErrorCode::E0207, {{data, 1}})
             << relation.name(data) << " has " << channels << " channels, which num_group "
             << groups << " does not divide";
    return relation.fix(weight, 1, channels / groups, "channels", "data and num_group");
  }
  if (relation.extent(weight, 1) == kOpen || !relation.ranked(data))
    return success();
  return relation.fix(data, 1, relation.extent(weight, 1) * groups, "channels",
                      "weight and num_group");
}

} // namespace

LogicalResult PadOp::relateShapes(ShapeRelation &relation) {
  Value data = getData(), output = getOutput();
  if (failed(relation.sameType(data, output)))
    return failure();
  // pad:pad-width
  for (int64_t width : getPadWidth())
    if (failed(atLeast(relation, width, 0, "pad_width")))
      return failure();
  if (!relation.ranked(data))
    return success();
  const int64_t rank = relation.rank(data);
  if (int64_t(getPadWidth().size()) != 2 * rank)
    return relation.refuse(ErrorCode::E0319, {{data}})
           << "pad_width has " << getPadWidth().size() << " numbers, wants two for each of the "
           << rank << " axes of " << relation.name(data);
  if (failed(relation.fixRank(output, rank)))
    return failure();
  for (int64_t axis = 0; axis < rank; ++axis) {
    const int64_t before = getPadWidth()[size_t(2 * axis)],
                  after = getPadWidth()[size_t(2 * axis + 1)];
    if (before == 0 && after == 0) {
      if (failed(relation.equal(output, axis, data, axis, "on axis " + std::to_string(axis))))
        return failure();
      continue;
    }
    const int64_t extent = relation.extent(data, axis);
    if (extent == kOpen)
      continue;
    // pad:reflect
    if (getMode() == "reflect" && std::max(before, after) >= extent)
      return relation.refuse(ErrorCode::E0319, {{data, axis}})
             << relation.name(data) << " has " << extent << " on axis " << axis
             << ", and reflect adds " << std::max(before, after);
    int64_t padded = 0;
    if (__builtin_add_overflow(extent, before, &padded) ||
        __builtin_add_overflow(padded, after, &padded))
      return relation.refuse(ErrorCode::E0402, {{data, axis}})
             << "axis " << axis << " has more elements than 64 bits count";
    if (failed(relation.fix(output, axis, padded, "elements", "data and pad_width")))
      return failure();
  }
  return success();
}

LogicalResult ConvolutionOp::relateShapes(ShapeRelation &relation) {
  Value data = getData(), weight = getWeight(), bias = getBias(), output = getOutput();
  const auto filters = int64_t(getNumFilter()), groups = int64_t(getNumGroup());
  for (int round = 0; round < 2; ++round)
    for (Value value : {weight, output, bias})
      if (value && failed(relation.sameType(data, value)))
        return failure();
  // convolution:kernel, convolution:groups
  const size_t count = getKernel().size();
  if (failed(relation.floatType(data)) || failed(checkKernel(relation, getKernel())) ||
      failed(checkTuple(relation, getStride(), count, 1, "stride")) ||
      failed(checkTuple(relation, getDilate(), count, 1, "dilate")) ||
      failed(checkTuple(relation, getPad(), count, 0, "pad")) ||
      failed(checkLayout(relation, getLayout(), count)) ||
      failed(atLeast(relation, filters, 1, "num_filter")) ||
      failed(atLeast(relation, groups, 1, "num_group")))
    return failure();
  if (filters % groups != 0)
    return relation.refuse(ErrorCode::E0319)
           << "num_group is " << groups << ", which does not divide num_filter " << filters;
  if (groups > kMostGroups)
    return relation.refuse(ErrorCode::E0215)
           << "more than " << kMostGroups << " groups are not built yet";
  if (bool(bias) == getNoBias())
    return relation.refuse(ErrorCode::E0319)
           << (bias ? "has a bias, and no_bias is True" : "has no bias, and no_bias is False");
  // convolution:bias-shape, convolution:weight-shape, convolution:output-shape
  if (bias && (failed(relation.fixRank(bias, 1)) ||
               failed(relation.fix(bias, 0, filters, "elements", "num_filter"))))
    return failure();
  const auto rank = int64_t(count) + 2;
  if (failed(relation.fixRank(data, rank, "kernel")) ||
      failed(relation.fixRank(weight, rank, "kernel")) ||
      failed(relation.fixRank(output, rank, "kernel")) ||
      failed(relation.fix(weight, 0, filters, "filters", "num_filter")) ||
      failed(relateGroups(relation, *this)))
    return failure();
  for (auto [i, extent] : llvm::enumerate(getKernel()))
    if (failed(relation.fix(weight, int64_t(i) + 2, extent, "elements", "kernel")))
      return failure();
  if (failed(relation.equal(output, 0, data, 0, "samples")) ||
      failed(relation.fix(output, 1, filters, "channels", "num_filter")))
    return failure();
  return relateWindows(relation, data, output, stepsOf(*this), false);
}

LogicalResult PoolingOp::relateShapes(ShapeRelation &relation) {
  Value data = getData(), output = getOutput();
  if (failed(relation.sameType(data, output)) || failed(relation.floatType(data)))
    return failure();
  if (getGlobalPool()) {
    if (!relation.ranked(data))
      return success();
    if (failed(rankAtLeast(relation, data, 3)) ||
        failed(relation.fixRank(output, relation.rank(data))))
      return failure();
    for (int64_t axis = 0; axis < relation.rank(data); ++axis)
      if (failed(axis < 2
                     ? relation.equal(output, axis, data, axis, axis == 0 ? "samples" : "channels")
                     : relation.fix(output, axis, 1, "windows", "global_pool")))
        return failure();
    return success();
  }
  // pooling:kernel
  const size_t count = getKernel().size();
  if (failed(checkKernel(relation, getKernel())) ||
      failed(checkTuple(relation, getStride(), count, 1, "stride")) ||
      failed(checkTuple(relation, getPad(), count, 0, "pad")) ||
      failed(checkLayout(relation, getLayout(), count)))
    return failure();
  for (const Step &step : stepsOf(*this))
    if (step.pad.before >= step.kernel)
      return relation.refuse(ErrorCode::E0319)
             << "pad is " << step.pad.before << ", wants less than the kernel's " << step.kernel;
  // pooling:output-shape
  const auto rank = int64_t(count) + 2;
  if (failed(relation.fixRank(data, rank, "kernel")) ||
      failed(relation.fixRank(output, rank, "kernel")) ||
      failed(relation.equal(output, 0, data, 0, "samples")) ||
      failed(relation.equal(output, 1, data, 1, "channels")))
    return failure();
  return relateWindows(relation, data, output, stepsOf(*this), getPoolingConvention() == "full");
}

// ---- expansion ----

namespace {

/// `count` copies of the elements at `index` of an axis.
Value repeated(OpBuilder &builder, Location loc, Value x, int64_t axis, int64_t index,
               int64_t count) {
  Value one = createSliceAxis(builder, loc, x, axis, index, index + 1);
  if (count == 1)
    return one;
  SmallVector<int64_t> shape(shapeOf(one));
  shape[size_t(axis)] = count;
  return builder.create<RepeatOp>(loc, rankedType(one).clone(shape), one,
                                  builder.getI64IntegerAttr(count),
                                  builder.getI64IntegerAttr(axis));
}

/// Padding of one number along an axis. It is made of `x`, so that it has rows of the batch where
/// `x` has.
Value filled(OpBuilder &builder, Location loc, Value x, int64_t axis, int64_t count,
             double number) {
  E zeros = E{createSliceAxis(builder, loc, x, axis, 0, 1), &builder}.of<ZerosLikeOp>();
  return repeated(builder, loc, (number == 0 ? zeros : zeros + number).value, axis, 0, count);
}

} // namespace

Value padded(OpBuilder &builder, Location loc, Value x, int64_t axis, Padding padding,
             StringRef mode, double number) {
  const int64_t extent = shapeOf(x)[size_t(axis)];
  auto part = [&](int64_t count, bool before) -> Value {
    if (mode == "constant")
      return filled(builder, loc, x, axis, count, number);
    if (mode == "edge")
      return repeated(builder, loc, x, axis, before ? 0 : extent - 1, count);
    Value beside = before ? createSliceAxis(builder, loc, x, axis, 1, count + 1)
                          : createSliceAxis(builder, loc, x, axis, extent - 1 - count, extent - 1);
    return builder.create<ReverseOp>(loc, beside.getType(), beside,
                                     builder.getDenseI64ArrayAttr({axis}));
  };
  SmallVector<Value> parts;
  if (padding.before > 0)
    parts.push_back(part(padding.before, true));
  parts.push_back(x);
  if (padding.after > 0)
    parts.push_back(part(padding.after, false));
  return createConcat(builder, loc, parts, axis);
}

namespace {

/// Axes 0, 2, ..., 1: channels last; and back.
SmallVector<int64_t> channelsLast(int64_t rank) {
  SmallVector<int64_t> order = {0};
  for (int64_t axis = 2; axis < rank; ++axis)
    order.push_back(axis);
  order.push_back(1);
  return order;
}
SmallVector<int64_t> channelsSecond(int64_t rank) {
  SmallVector<int64_t> order = {0, rank - 1};
  for (int64_t axis = 1; axis < rank - 1; ++axis)
    order.push_back(axis);
  return order;
}

/// The elements of `x` [N, extents..., C] that all windows have at position `at` of the kernel:
/// [N, windows..., C].
Value elementsAt(OpBuilder &builder, Location loc, Value x, ArrayRef<Step> steps,
                 ArrayRef<int64_t> windows, ArrayRef<int64_t> at) {
  SmallVector<Attribute> begin = {builder.getUnitAttr()}, end = begin, stride = begin;
  SmallVector<int64_t> shape(shapeOf(x));
  for (size_t i = 0; i < steps.size(); ++i) {
    const int64_t first = at[i] * steps[i].dilate;
    begin.push_back(builder.getI64IntegerAttr(first));
    end.push_back(builder.getI64IntegerAttr(first + (windows[i] - 1) * steps[i].stride + 1));
    stride.push_back(builder.getI64IntegerAttr(steps[i].stride));
    shape[i + 1] = windows[i];
  }
  if (shapeOf(x) == ArrayRef<int64_t>(shape))
    return x;
  return builder.create<SliceOp>(loc, rankedType(x).clone(shape), x, builder.getArrayAttr(begin),
                                 builder.getArrayAttr(end), builder.getArrayAttr(stride));
}

/// All windows of `x` [N, extents..., C], padded already: [N, windows..., C, positions of the
/// kernel].
Value allWindows(OpBuilder &builder, Location loc, Value x, ArrayRef<Step> steps,
                 ArrayRef<int64_t> windows) {
  SmallVector<Value> parts;
  SmallVector<int64_t> at(steps.size(), 0);
  for (bool more = true; more;) {
    parts.push_back(elementsAt(builder, loc, x, steps, windows, at));
    more = false;
    for (size_t i = steps.size(); i-- > 0 && !more;)
      if (++at[i] < steps[i].kernel)
        more = true;
      else
        at[i] = 0;
  }
  SmallVector<int64_t> shape(shapeOf(parts.front()));
  shape.push_back(int64_t(parts.size()));
  const int64_t rank = rankOf(x);
  return builder.create<StackOp>(loc, rankedType(x).clone(shape), parts,
                                 builder.getI64IntegerAttr(rank));
}

/// `x` [N, C, extents...] as [N, extents..., C] with the padding of `steps`.
Value channelsLastPadded(OpBuilder &builder, Location loc, Value x, ArrayRef<Step> steps,
                         double number) {
  x = createTranspose(builder, loc, x, channelsLast(rankOf(x)));
  for (auto [i, step] : llvm::enumerate(steps))
    if (step.pad.before > 0 || step.pad.after > 0)
      x = padded(builder, loc, x, int64_t(i) + 1, step.pad, "constant", number);
  return x;
}

/// How many elements each window of one axis counts: a vector.
E countsOf(OpBuilder &builder, Location loc, Type element, const Step &step, int64_t extent,
           int64_t windows, bool includePad) {
  std::string_view dtype = dtypeLongName(*dtypeOf(element));
  E number{builder.create<ArangeOp>(
               loc, RankedTensorType::get({windows}, element), builder.getF64FloatAttr(0),
               builder.getF64FloatAttr(double(windows)), builder.getF64FloatAttr(1),
               builder.getI64IntegerAttr(1), builder.getBoolAttr(false), builder.getStringAttr(""),
               builder.getStringAttr(StringRef(dtype.data(), dtype.size()))),
           &builder};
  const double pad = double(step.pad.before);
  E begin = number * double(step.stride) - pad;
  E end = (begin + double(step.kernel))
              .withScalar<MinimumScalarOp>(double(extent) + (includePad ? pad : 0));
  return end - begin.withScalar<MaximumScalarOp>(includePad ? -pad : 0);
}

/// Sums of windows [N, windows..., C] divided by the elements that each window counts.
Value meansOf(OpBuilder &builder, PoolingOp op, Value sums, ArrayRef<Step> steps) {
  Location loc = op.getLoc();
  ArrayRef<int64_t> extents = shapeOf(op.getData()).drop_front(2);
  const bool includePad = op.getCountIncludePad();
  double all = 1; // the product of the axes along which all windows count the same
  Value counts;
  SmallVector<int64_t> shape(size_t(rankOf(sums)), 1);
  for (auto [i, step] : llvm::enumerate(steps)) {
    const int64_t windows = shapeOf(sums)[i + 1];
    const int64_t last = (windows - 1) * step.stride + step.kernel;
    const int64_t counted = extents[i] + (includePad ? 2 * step.pad.before : 0);
    if (last <= counted && (includePad || step.pad.before == 0)) {
      all *= double(step.kernel);
      continue;
    }
    SmallVector<int64_t> own(size_t(rankOf(sums)), 1);
    own[i + 1] = shape[i + 1] = windows;
    E along = countsOf(builder, loc, rankedType(sums).getElementType(), step, extents[i], windows,
                       includePad);
    Value number = createReshape(builder, loc, along.value, own);
    counts = counts ? Value(builder.create<BroadcastMulOp>(loc, rankedType(number).clone(shape),
                                                           counts, number))
                    : number;
  }
  if (!counts)
    return (E{sums, &builder} / all).value;
  counts = (E{counts, &builder} * all).value;
  return builder.create<BroadcastDivOp>(loc, sums.getType(), sums, counts);
}

/// The maximum over the last axis; of equal ones the gradient is the first one's.
Value firstMaximum(OpBuilder &builder, Location loc, Value x) {
  auto type = rankedType(x);
  auto reduced = type.clone(type.getShape().drop_back());
  const int64_t last = type.getRank() - 1;
  Value at = builder.create<ArgmaxOp>(loc, reduced, x, builder.getI64IntegerAttr(last),
                                      builder.getBoolAttr(false));
  return builder.create<PickOp>(loc, reduced, x, at, builder.getI64IntegerAttr(last),
                                builder.getBoolAttr(false), builder.getStringAttr("clip"));
}

Value sumOfLast(OpBuilder &builder, Location loc, Value x) {
  auto type = rankedType(x);
  return builder.create<SumOp>(loc, type.clone(type.getShape().drop_back()), x,
                               builder.getDenseI64ArrayAttr({type.getRank() - 1}),
                               builder.getBoolAttr(false), builder.getBoolAttr(false));
}

} // namespace

Value PadOp::writtenOut(OpBuilder &builder) {
  Value x = getData();
  for (int64_t axis = 0; axis < rankOf(getData()); ++axis)
    if (Padding padding{getPadWidth()[size_t(2 * axis)], getPadWidth()[size_t(2 * axis + 1)]};
        padding.before > 0 || padding.after > 0)
      x = padded(builder, getLoc(), x, axis, padding, getMode(),
                 getConstantValue().convertToDouble());
  return x == getData() ? Value(builder.create<CopyOp>(getLoc(), x.getType(), x)) : x;
}

Value ConvolutionOp::writtenOut(OpBuilder &builder) {
  Location loc = getLoc();
  const SmallVector<Step> steps = stepsOf(*this);
  const auto filters = int64_t(getNumFilter()), groups = int64_t(getNumGroup());
  ArrayRef<int64_t> windows = shapeOf(getOutput()).drop_front(2);
  Value x = channelsLastPadded(builder, loc, getData(), steps, 0);
  const int64_t last = rankOf(x) - 1, channels = shapeOf(x)[size_t(last)] / groups;
  Value weight = createReshape(builder, loc, getWeight(),
                               {filters, product(shapeOf(getWeight()).drop_front())});
  SmallVector<Value> parts;
  for (int64_t group = 0; group < groups; ++group) {
    Value own = x, ownWeight = weight, ownBias = getBias();
    const int64_t size = filters / groups;
    if (groups > 1) {
      own = createSliceAxis(builder, loc, x, last, group * channels, (group + 1) * channels);
      ownWeight = createSliceAxis(builder, loc, weight, 0, group * size, (group + 1) * size);
      if (ownBias)
        ownBias = createSliceAxis(builder, loc, ownBias, 0, group * size, (group + 1) * size);
    }
    Value all = allWindows(builder, loc, own, steps, windows);
    SmallVector<int64_t> rows(shapeOf(all).drop_back());
    rows.back() *= shapeOf(all).back();
    all = createReshape(builder, loc, all, rows);
    rows.back() = size;
    parts.push_back(builder.create<FullyConnectedOp>(
        loc, rankedType(all).clone(rows), all, ownWeight, ownBias, builder.getI64IntegerAttr(size),
        builder.getBoolAttr(!ownBias), builder.getBoolAttr(false)));
  }
  return createTranspose(builder, loc, createConcat(builder, loc, parts, last),
                         channelsSecond(last + 1));
}

Value PoolingOp::writtenOut(OpBuilder &builder) {
  Location loc = getLoc();
  const bool isMax = getPoolType() == "max";
  ArrayRef<int64_t> shape = shapeOf(getData());
  if (getGlobalPool()) {
    Value x =
        createReshape(builder, loc, getData(), {shape[0], shape[1], product(shape.drop_front(2))});
    const auto count = double(shapeOf(x).back());
    x = isMax ? firstMaximum(builder, loc, x) : sumOfLast(builder, loc, x);
    if (getPoolType() == "avg")
      x = (E{x, &builder} / count).value;
    return createReshape(builder, loc, x, shapeOf(getOutput()));
  }
  SmallVector<Step> steps = stepsOf(*this), wide = steps;
  ArrayRef<int64_t> windows = shapeOf(getOutput()).drop_front(2);
  for (auto [i, step] : llvm::enumerate(wide)) // of the convention full, what the last window lacks
    step.pad.after = std::max(step.pad.after, (windows[i] - 1) * step.stride + step.kernel -
                                                  shape[i + 2] - step.pad.before);
  Value x = channelsLastPadded(builder, loc, getData(), wide,
                               isMax ? -std::numeric_limits<double>::infinity() : 0);
  x = allWindows(builder, loc, x, wide, windows);
  x = isMax ? firstMaximum(builder, loc, x) : sumOfLast(builder, loc, x);
  if (getPoolType() == "avg")
    x = meansOf(builder, *this, x, steps);
  return createTranspose(builder, loc, x, channelsSecond(rankOf(x)));
}

} // namespace lstmc::sym
