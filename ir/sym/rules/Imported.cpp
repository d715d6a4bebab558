// Shapes and expansion of the ops in ImportedOps.td.
#include "ir/sym/ImportedOps.h"

#include "ir/sym/Create.h"
#include "ir/sym/Expression.h"
#include "ir/sym/RuleSupport.h"
#include "ir/sym/rules/Windows.h"

using namespace mlir;

namespace lstmc::sym {

using E = Expression;

//===---- Deconvolution -----------------------------------------------------------------------===//

namespace {

/// What a deconvolution does along one axis.
struct Spread {
  int64_t kernel, stride, dilate, pad, adj;

  int64_t reach() const { return dilate * (kernel - 1) + 1; }
  /// Of the output without padding; nothing above 64 bits.
  std::optional<int64_t> whole(int64_t extent) const {
    int64_t elements = 0;
    if (__builtin_mul_overflow(stride, extent - 1, &elements) ||
        __builtin_add_overflow(elements, reach(), &elements))
      return std::nullopt;
    return elements;
  }
};

bool hasTarget(DeconvolutionOp op) {
  return llvm::any_of(op.getTargetShape(), [](int64_t extent) { return extent != 0; });
}

/// Of axis i + 2. With a target, pad and adj follow from the extent of `data`, which is known then.
Spread spreadOf(DeconvolutionOp op, size_t i, int64_t extent) {
  Spread spread{op.getKernel()[i], entryOf(op.getStride(), i, 1), entryOf(op.getDilate(), i, 1),
                entryOf(op.getPad(), i, 0), entryOf(op.getAdj(), i, 0)};
  if (!hasTarget(op))
    return spread;
  const int64_t rest = spread.whole(extent).value_or(0) - op.getTargetShape()[i];
  spread.adj = rest % 2;
  spread.pad = (rest + 1) / 2;
  return spread;
}

/// The extent of `output` on axis i + 2; E0207 or E0402 if there is none.
LogicalResult relateExtent(ShapeRelation &relation, DeconvolutionOp op, size_t i) {
  const auto axis = int64_t(i) + 2;
  const int64_t extent = relation.extent(op.getData(), axis);
  if (extent == kOpen)
    return success();
  const Spread spread = spreadOf(op, i, extent);
  const std::optional<int64_t> whole = spread.whole(extent);
  if (!whole)
    return relation.refuse(ErrorCode::E0402, {{op.getData(), axis}})
           << "axis " << axis << " has more elements than 64 bits count";
  if (hasTarget(op) && op.getTargetShape()[i] > *whole)
    return relation.refuse(ErrorCode::E0207, {{op.getData(), axis}})
           << "target_shape has " << op.getTargetShape()[i] << " on axis " << axis << ", and "
           << relation.name(op.getData()) << " becomes " << *whole << " without padding";
  const int64_t made = *whole - 2 * spread.pad + spread.adj;
  if (made < 1)
    return relation.refuse(ErrorCode::E0207, {{op.getData(), axis}})
           << relation.name(op.getData()) << " has " << extent << " on axis " << axis
           << ", of which pad leaves nothing";
  return relation.fix(op.getOutput(), axis, made, "elements", "data");
}

LogicalResult checkAttributes(ShapeRelation &relation, DeconvolutionOp op) {
  // deconvolution:kernel
  const size_t count = op.getKernel().size();
  if (failed(checkKernel(relation, op.getKernel())) ||
      failed(checkTuple(relation, op.getStride(), count, 1, "stride")) ||
      failed(checkTuple(relation, op.getDilate(), count, 1, "dilate")) ||
      failed(checkTuple(relation, op.getPad(), count, 0, "pad")) ||
      failed(checkTuple(relation, op.getAdj(), count, 0, "adj")) ||
      failed(checkTuple(relation, op.getTargetShape(), count, hasTarget(op) ? 1 : 0,
                        "target_shape")) ||
      failed(checkLayout(relation, op.getLayout(), count)) ||
      failed(atLeast(relation, int64_t(op.getNumFilter()), 1, "num_filter")) ||
      failed(atLeast(relation, int64_t(op.getNumGroup()), 1, "num_group")))
    return failure();
  // deconvolution:adj
  for (size_t i = 0; i < op.getAdj().size(); ++i)
    if (op.getAdj()[i] >= entryOf(op.getStride(), i, 1))
      return relation.refuse(ErrorCode::E0319)
             << "adj is " << op.getAdj()[i] << ", wants less than the stride, "
             << entryOf(op.getStride(), i, 1);
  // deconvolution:groups
  const auto filters = int64_t(op.getNumFilter()), groups = int64_t(op.getNumGroup());
  if (filters % groups != 0)
    return relation.refuse(ErrorCode::E0319)
           << "num_group is " << groups << ", which does not divide num_filter " << filters;
  if (groups > kMostGroups)
    return relation.refuse(ErrorCode::E0215)
           << "more than " << kMostGroups << " groups are not built yet";
  if (bool(op.getBias()) == op.getNoBias())
    return relation.refuse(ErrorCode::E0319)
           << (op.getBias() ? "has a bias, and no_bias is True"
                            : "has no bias, and no_bias is False");
  return success();
}

} // namespace

LogicalResult DeconvolutionOp::relateShapes(ShapeRelation &relation) {
  Value data = getData(), weight = getWeight(), bias = getBias(), output = getOutput();
  const auto filters = int64_t(getNumFilter()), groups = int64_t(getNumGroup());
  for (int round = 0; round < 2; ++round)
    for (Value value : {weight, output, bias})
      if (value && failed(relation.sameType(data, value)))
        return failure();
  if (failed(relation.floatType(data)) || failed(checkAttributes(relation, *this)))
    return failure();
  // deconvolution:bias-shape, deconvolution:weight-shape
  if (bias && (failed(relation.fixRank(bias, 1)) ||
               failed(relation.fix(bias, 0, filters, "elements", "num_filter"))))
    return failure();
  const auto rank = int64_t(getKernel().size()) + 2;
  for (Value value : {data, weight, output})
    if (failed(relation.fixRank(value, rank, "kernel")))
      return failure();
  if (failed(relation.equal(weight, 0, data, 1, "channels")) ||
      failed(relation.fix(weight, 1, filters / groups, "filters", "num_filter and num_group")) ||
      failed(relation.equal(output, 0, data, 0, "samples")) ||
      failed(relation.fix(output, 1, filters, "channels", "num_filter")))
    return failure();
  if (const int64_t channels = relation.extent(data, 1);
      channels != kOpen && channels % groups != 0)
    return relation.refuse(ErrorCode::E0207, {{data, 1}})
           << relation.name(data) << " has " << channels << " channels, which num_group " << groups
           << " does not divide";
  // deconvolution:output-shape, deconvolution:target
  for (auto [i, extent] : llvm::enumerate(getKernel())) {
    const auto axis = int64_t(i) + 2;
    if (failed(relation.fix(weight, axis, extent, "elements", "kernel")) ||
        failed(relateExtent(relation, *this, i)))
      return failure();
  }
  return success();
}

namespace {

/// `x` with `count` zeros between its elements along an axis.
Value withZeros(OpBuilder &builder, Location loc, Value x, int64_t axis, int64_t count) {
  if (count == 0)
    return x;
  SmallVector<int64_t> shape(shapeOf(x)), apart = shape;
  apart.insert(apart.begin() + axis + 1, 1);
  Value one = createReshape(builder, loc, x, apart);
  Value zero = builder.create<ZerosLikeOp>(loc, one.getType(), one);
  apart[size_t(axis) + 1] = count;
  Value zeros = builder.create<RepeatOp>(loc, rankedType(one).clone(apart), zero,
                                         builder.getI64IntegerAttr(count),
                                         builder.getI64IntegerAttr(axis + 1));
  const int64_t extent = shape[size_t(axis)];
  shape[size_t(axis)] = extent * (count + 1);
  Value all =
      createReshape(builder, loc, createConcat(builder, loc, {one, zeros}, axis + 1), shape);
  return createSliceAxis(builder, loc, all, axis, 0, shape[size_t(axis)] - count);
}

/// `x` with so many zeros on both sides; where there are less than none, without its ends.
Value fitted(OpBuilder &builder, Location loc, Value x, int64_t axis, Padding padding) {
  const int64_t extent = shapeOf(x)[size_t(axis)];
  if (padding.before < 0 || padding.after < 0)
    x = createSliceAxis(builder, loc, x, axis, std::max<int64_t>(0, -padding.before),
                        extent - std::max<int64_t>(0, -padding.after));
  padding.before = std::max<int64_t>(0, padding.before);
  padding.after = std::max<int64_t>(0, padding.after);
  return padding.before + padding.after > 0 ? padded(builder, loc, x, axis, padding, "constant", 0)
                                            : x;
}

/// The weight of the convolution: [F, C / groups, kernel...], the kernel backwards.
Value turnedWeight(OpBuilder &builder, DeconvolutionOp op) {
  Location loc = op.getLoc();
  const auto filters = int64_t(op.getNumFilter()), groups = int64_t(op.getNumGroup());
  ArrayRef<int64_t> kernel = op.getKernel();
  const int64_t channels = shapeOf(op.getWeight())[0] / groups;
  SmallVector<int64_t> apart = {groups, channels, filters / groups}, order = {0, 2, 1}, axes;
  SmallVector<int64_t> whole = {filters, channels};
  for (auto [i, extent] : llvm::enumerate(kernel)) {
    apart.push_back(extent);
    whole.push_back(extent);
    order.push_back(int64_t(i) + 3);
    axes.push_back(int64_t(i) + 2);
  }
  Value weight = createReshape(builder, loc, op.getWeight(), apart);
  weight = createReshape(builder, loc, createTranspose(builder, loc, weight, order), whole);
  return builder.create<ReverseOp>(loc, weight.getType(), weight,
                                   builder.getDenseI64ArrayAttr(axes));
}

} // namespace

Value DeconvolutionOp::writtenOut(OpBuilder &builder) {
  Value x = getData();
  for (size_t i = 0; i < getKernel().size(); ++i) {
    const auto axis = int64_t(i) + 2;
    const Spread spread = spreadOf(*this, i, shapeOf(getData())[i + 2]);
    x = withZeros(builder, getLoc(), x, axis, spread.stride - 1);
    const int64_t around = spread.reach() - 1 - spread.pad;
    x = fitted(builder, getLoc(), x, axis, {around, around + spread.adj});
  }
  const auto none = builder.getDenseI64ArrayAttr({});
  return builder.create<ConvolutionOp>(
      getLoc(), getType(), x, turnedWeight(builder, *this), getBias(), getKernelAttr(), none,
      getDilateAttr(), none, getNumFilterAttr(), getNumGroupAttr(), getWorkspaceAttr(),
      getNoBiasAttr(), getCudnnTuneAttr(), getCudnnOffAttr(), builder.getStringAttr("None"));
}

//===---- UpSampling --------------------------------------------------------------------------===//

LogicalResult UpSamplingOp::relateShapes(ShapeRelation &relation) {
  Value output = getOutput();
  // up_sampling:count
  if (getArgs().empty())
    return relation.refuse(ErrorCode::E0319) << "needs at least one input";
  if (getSampleType() == "bilinear")
    return relation.refuse(ErrorCode::E0215)
           << "sample_type bilinear is not built: Deconvolution with that kernel does it";
  // up_sampling:scale
  if (failed(atLeast(relation, int64_t(getScale()), 1, "scale")))
    return failure();
  // up_sampling:rank
  if (failed(relation.fixRank(output, 4, "images")))
    return failure();
  for (Value input : getArgs())
    if (failed(relation.sameType(input, output)) || failed(relation.floatType(input)) ||
        failed(relation.fixRank(input, 4, "images")) ||
        failed(relation.equal(output, 0, input, 0, "samples")))
      return failure();
  for (int64_t axis : {2, 3}) {
    const int64_t first = relation.extent(getArgs()[0], axis);
    int64_t whole = 0;
    if (first == kOpen)
      continue;
    if (__builtin_mul_overflow(first, int64_t(getScale()), &whole))
      return relation.refuse(ErrorCode::E0402, {{getArgs()[0], axis}})
             << "axis " << axis << " has more elements than 64 bits count";
    if (failed(relation.fix(output, axis, whole, "elements", "the first input and scale")))
      return failure();
    for (Value input : getArgs())
      if (const int64_t extent = relation.extent(input, axis);
          extent != kOpen && (extent < 1 || whole % extent != 0))
        return relation.refuse(ErrorCode::E0207, {{input, axis}})
               << relation.name(input) << " has " << extent << " on axis " << axis
               << ", which does not divide the " << whole << " of the output";
  }
  // up_sampling:sum
  int64_t channels = 0;
  for (Value input : getArgs()) {
    if (getMultiInputMode() == "sum" && failed(relation.equal(output, 1, input, 1, "channels")))
      return failure();
    if (relation.extent(input, 1) == kOpen)
      return success();
    channels += relation.extent(input, 1);
  }
  return getMultiInputMode() == "sum" ? success()
                                      : relation.fix(output, 1, channels, "channels", "the inputs");
}

Value UpSamplingOp::writtenOut(OpBuilder &builder) {
  SmallVector<Value> images;
  for (Value image : getArgs()) {
    for (int64_t axis : {2, 3}) {
      SmallVector<int64_t> shape(shapeOf(image));
      const int64_t extent = shape[size_t(axis)];
      const int64_t times = shapeOf(getOutput())[size_t(axis)] / extent;
      shape[size_t(axis)] *= times;
      if (times > 1)
        image = builder.create<RepeatOp>(getLoc(), rankedType(image).clone(shape), image,
                                         builder.getI64IntegerAttr(times),
                                         builder.getI64IntegerAttr(axis));
    }
    images.push_back(image);
  }
  Value whole = images.front();
  if (getMultiInputMode() == "concat")
    whole = createConcat(builder, getLoc(), images, 1);
  else
    for (Value image : ArrayRef<Value>(images).drop_front())
      whole = (E{whole, &builder} + E{image, &builder}).value;
  return whole == getArgs()[0] ? Value(builder.create<CopyOp>(getLoc(), whole.getType(), whole))
                               : whole;
}

//===---- LRN ---------------------------------------------------------------------------------===//

LogicalResult LRNOp::relateShapes(ShapeRelation &relation) {
  if (failed(relateEqual(relation, *this, Numbers::Float)) ||
      failed(atLeast(relation, int64_t(getNsize()), 1, "nsize")))
    return failure();
  // lrn:nsize
  if (getNsize() % 2 == 0)
    return relation.refuse(ErrorCode::E0319)
           << "nsize is " << getNsize() << ", wants an odd number";
  if (int64_t(getNsize()) > kMostPositions)
    return relation.refuse(ErrorCode::E0215)
           << "an nsize of more than " << kMostPositions << " is not built yet";
  // lrn:rank
  return relation.ranked(getData()) ? rankAtLeast(relation, getData(), 2) : success();
}

Value LRNOp::writtenOut(OpBuilder &builder) {
  const auto size = int64_t(getNsize()), channels = shapeOf(getData())[1];
  E x{getData(), &builder};
  Value squares = (x * x).value;
  if (size > 1)
    squares = padded(builder, getLoc(), squares, 1, {size / 2, size / 2}, "constant", 0);
  SmallVector<Value> beside;
  for (int64_t i = 0; i < size; ++i)
    beside.push_back(createSliceAxis(builder, getLoc(), squares, 1, i, i + channels));
  SmallVector<int64_t> shape(shapeOf(getData()));
  shape.push_back(size);
  const int64_t last = rankOf(getData());
  Value stacked = builder.create<StackOp>(getLoc(), rankedType(squares).clone(shape), beside,
                                          builder.getI64IntegerAttr(last));
  E sum{builder.create<SumOp>(getLoc(), getType(), stacked, builder.getDenseI64ArrayAttr({last}),
                              builder.getBoolAttr(false), builder.getBoolAttr(false)),
        &builder};
  E base = sum * (getAlpha().convertToDouble() / double(size)) + getKnorm().convertToDouble();
  return (x * base.withScalar<PowerScalarOp>(-getBeta().convertToDouble())).value;
}

//===---- GroupNorm ---------------------------------------------------------------------------===//

LogicalResult GroupNormOp::relateShapes(ShapeRelation &relation) {
  Value data = getData();
  const auto groups = int64_t(getNumGroups());
  // group_norm:same-shape
  if (failed(relation.floatType(data)) || failed(relation.sameShape(data, getOutput())))
    return failure();
  for (int round = 0; round < 2; ++round)
    for (Value value : {getOutput(), getGamma(), getBeta(), getMean(), getStd()})
      if (failed(relation.sameType(data, value)))
        return failure();
  // group_norm:parameter-shape
  if (failed(atLeast(relation, groups, 1, "num_groups")))
    return failure();
  for (Value value : {getGamma(), getBeta()})
    if (failed(relation.fixRank(value, 1)) ||
        failed(relation.fix(value, 0, groups, "elements", "num_groups")))
      return failure();
  for (Value value : {getMean(), getStd()})
    if (failed(relation.fixRank(value, 2)) ||
        failed(relation.fix(value, 1, groups, "elements", "num_groups")))
      return failure();
  if (!relation.ranked(data))
    return success();
  // group_norm:rank
  if (failed(rankAtLeast(relation, data, 3)))
    return failure();
  for (Value value : {getMean(), getStd()})
    if (failed(relation.equal(value, 0, data, 0, "samples")))
      return failure();
  // group_norm:groups
  const int64_t channels = relation.extent(data, 1);
  if (channels != kOpen && channels % groups != 0)
    return relation.refuse(ErrorCode::E0207, {{data, 1}})
           << relation.name(data) << " has " << channels << " channels, which num_groups " << groups
           << " does not divide";
  return success();
}

SmallVector<Value> GroupNormOp::writtenOutAll(OpBuilder &builder) {
  const int64_t samples = shapeOf(getData())[0], groups = int64_t(getNumGroups());
  const int64_t elements = product(shapeOf(getData()).drop_front()) / groups;
  Value x = createReshape(builder, getLoc(), getData(), {samples, groups, elements});
  auto mean = [&](Value value) -> Value {
    return builder.create<MeanOp>(getLoc(), rankedType(value).clone({samples, groups, 1}), value,
                                  builder.getDenseI64ArrayAttr({2}), builder.getBoolAttr(true),
                                  builder.getBoolAttr(false));
  };
  auto statistic = [&](Value value) -> Value {
    value = builder.create<BlockGradOp>(getLoc(), value.getType(), value);
    return createReshape(builder, getLoc(), value, {samples, groups});
  };
  auto ofGroup = [&](Value value) {
    return createReshape(builder, getLoc(), value, {1, groups, 1});
  };
  Value centre = mean(x);
  E centred{builder.create<BroadcastSubOp>(getLoc(), x.getType(), x, centre), &builder};
  E variance{mean((centred * centred).value), &builder};
  E deviation = (variance + getEps().convertToDouble()).of<SqrtOp>();
  Value y = builder.create<BroadcastDivOp>(getLoc(), x.getType(), centred.value, deviation.value);
  y = builder.create<BroadcastMulOp>(getLoc(), x.getType(), y, ofGroup(getGamma()));
  y = builder.create<BroadcastAddOp>(getLoc(), x.getType(), y, ofGroup(getBeta()));
  return {createReshape(builder, getLoc(), y, shapeOf(getData())), statistic(centre),
          statistic(deviation.value)};
}
Value GroupNormOp::writtenOut(OpBuilder &builder) { return writtenOutAll(builder).front(); }

//===---- _split_v2 ---------------------------------------------------------------------------===//

int64_t SplitV2Op::resultCount(DictionaryAttr attributes) {
  auto sections = attributes.getAs<IntegerAttr>("sections");
  auto indices = attributes.getAs<DenseI64ArrayAttr>("indices");
  if (sections && sections.getInt() > 0)
    return sections.getInt();
  return indices ? indices.size() : 0;
}

namespace {

/// The first element of each part, and the extent at the end.
SmallVector<int64_t> firstElements(SplitV2Op op, int64_t extent) {
  SmallVector<int64_t> all;
  if (const auto sections = int64_t(op.getSections()); sections > 0)
    for (int64_t i = 0; i < sections; ++i)
      all.push_back(extent / sections * i);
  else
    all.assign(op.getIndices().begin(), op.getIndices().end());
  all.push_back(extent);
  return all;
}

/// E0319 unless the attributes alone make parts.
LogicalResult checkParts(ShapeRelation &relation, SplitV2Op op) {
  // split_v2:sections, split_v2:indices
  if (failed(atLeast(relation, int64_t(op.getSections()), 0, "sections")))
    return failure();
  ArrayRef<int64_t> indices = op.getIndices();
  if (op.getSections() == 0 &&
      (indices.empty() || indices[0] != 0 || !llvm::is_sorted(indices) ||
       std::adjacent_find(indices.begin(), indices.end()) != indices.end()))
    return relation.refuse(ErrorCode::E0319) << "indices ascend from 0 on: the first of each part";
  const int64_t parts = op.getSections() > 0 ? int64_t(op.getSections()) : int64_t(indices.size());
  if (int64_t(op.getOutputs().size()) != parts)
    return relation.refuse(ErrorCode::E0319)
           << "has " << op.getOutputs().size() << " results, want " << parts;
  return success();
}

} // namespace

LogicalResult SplitV2Op::relateShapes(ShapeRelation &relation) {
  Value data = getData();
  if (failed(checkParts(relation, *this)))
    return failure();
  for (Value part : getOutputs())
    if (failed(relation.sameType(data, part)))
      return failure();
  if (!relation.ranked(data))
    return success();
  // split_v2:axis
  FailureOr<int64_t> axis = axisOf(relation, data, getAxis(), "axis");
  if (failed(axis))
    return failure();
  const int64_t extent = relation.extent(data, *axis);
  const auto sections = int64_t(getSections());
  if (extent != kOpen && (sections > 0 ? extent % sections != 0 : getIndices().back() >= extent))
    return relation.refuse(ErrorCode::E0207, {{data, *axis}})
           << relation.name(data) << " has " << extent << " on axis " << *axis << ", "
           << (sections > 0 ? "which sections does not divide" : "and an index is beyond it");
  // split_v2:parts, split_v2:squeeze
  for (auto [i, part] : llvm::enumerate(getOutputs())) {
    const int64_t rank = relation.rank(data), kept = getSqueezeAxis() ? rank - 1 : rank;
    if (failed(relation.fixRank(part, kept)))
      return failure();
    for (int64_t from = 0, to = 0; from < rank; ++from)
      if (from != *axis) {
        if (failed(relation.equal(part, to++, data, from, "elements")))
          return failure();
      } else if (!getSqueezeAxis()) {
        ++to;
      }
    if (extent == kOpen)
      continue;
    const SmallVector<int64_t> all = firstElements(*this, extent);
    const int64_t own = all[i + 1] - all[i];
    if (getSqueezeAxis() && own != 1)
      return relation.refuse(ErrorCode::E0319, {{data, *axis}})
             << "squeeze_axis wants parts of one element, part " << i << " has " << own;
    if (!getSqueezeAxis() && failed(relation.fix(part, *axis, own, "elements", "the indices")))
      return failure();
  }
  return success();
}

SmallVector<Value> SplitV2Op::writtenOutAll(OpBuilder &builder) {
  const int64_t axis = normalAxis(getAxis(), rankOf(getData()));
  const SmallVector<int64_t> all = firstElements(*this, shapeOf(getData())[size_t(axis)]);
  SmallVector<Value> parts;
  for (auto [i, output] : llvm::enumerate(getOutputs())) {
    Value part = createSliceAxis(builder, getLoc(), getData(), axis, all[i], all[i + 1]);
    if (getSqueezeAxis())
      part = createReshape(builder, getLoc(), part, shapeOf(output));
    parts.push_back(
        part == getData() ? Value(builder.create<CopyOp>(getLoc(), part.getType(), part)) : part);
  }
  return parts;
}
Value SplitV2Op::writtenOut(OpBuilder &builder) { return writtenOutAll(builder).front(); }

} // namespace lstmc::sym
