// Shapes and expansion of CTCLoss.
#include "ir/sym/Create.h"
#include "ir/sym/Expression.h"
#include "ir/sym/RuleSupport.h"
#include "ir/sym/WrittenOps.h"

using namespace mlir;

namespace lstmc::sym {

using E = Expression;

namespace {

/// Bounds of what is written out: some twenty ops for each step.
constexpr int64_t kMostSteps = 20'000, kMostLabels = 100'000;
/// The logarithm of 0, finite so that no gradient is 0 * inf; what no path reaches is below
/// -kUnreached.
constexpr double kLogOfZero = -1e30, kUnreached = 1e29;

} // namespace

LogicalResult CTCLossOp::relateShapes(ShapeRelation &relation) {
  Value data = getData(), label = getLabel(), output = getOutput();
  if (failed(relation.sameType(data, output)) || failed(relation.floatType(data)))
    return failure();
  // ctc_loss:rank
  if (failed(relation.fixRank(data, 3)) || failed(relation.fixRank(label, 2)) ||
      failed(relation.fixRank(output, 1)))
    return failure();
  // ctc_loss:rows
  for (Value value : {label, Value(getDataLengths()), Value(getLabelLengths()), output}) {
    if (!value)
      continue;
    if (value != label && failed(relation.fixRank(value, 1)))
      return failure();
    if (failed(relation.equal(value, 0, data, 1, "rows")))
      return failure();
  }
  // ctc_loss:classes
  if (int64_t classes = relation.extent(data, 2); classes != kOpen && classes < 2)
    return relation.refuse(ErrorCode::E0207, {{data, 2}})
           << relation.name(data) << " has " << classes
           << " classes, and one is the blank: wants at least 2";
  for (auto [value, axis, most, what] :
       {std::tuple(data, 0, kMostSteps, "steps"), std::tuple(label, 1, kMostLabels, "labels")})
    if (int64_t extent = relation.extent(value, axis); extent != kOpen && extent > most)
      return relation.refuse(ErrorCode::E0215, {{value, axis}})
             << "more than " << most << ' ' << what << " are not built yet";
  return success();
}

namespace {

/// The expansion of one CTCLoss. A label with a blank before, between and after its L classes has
/// S = 2 L + 1 places; element [n, s] of a step is the logarithm of the sum over all paths to place
/// s. In the log domain, in f64.
class CtcWriter {
public:
  CtcWriter(CTCLossOp op, OpBuilder &builder)
      : op(op), builder(builder), loc(op.getLoc()), f64(builder.getF64Type()),
        steps(shapeOf(op.getData())[0]), batch(shapeOf(op.getData())[1]),
        classes(shapeOf(op.getData())[2]), labels(shapeOf(op.getLabel())[1]),
        places(2 * labels + 1), blank(op.getBlankLabel() == "first" ? 0 : classes - 1),
        label(whole(op.getLabel())) {
    if (op.getDataLengths())
      length = whole(op.getDataLengths());
  }

  Value write() {
    const SmallVector<Value> emitted = emissions();
    const Value skips = mayNotSkip();
    Value paths = onlyFirst(emitted.front());
    for (int64_t step = 1; step < steps; ++step) {
      Value next = advance(paths, emitted[size_t(step)], skips);
      paths = op.getDataLengths() ? chosen(isLonger(step), next, paths) : next;
    }
    E loss = -E{total(paths), &builder};
    const E none = loss.of<ZerosLikeOp>();
    loss.value = chosen((loss > kUnreached).value, none.value, loss.value);
    if (op.getDataLengths()) // the first step is always there
      loss.value = chosen(isLonger(0), loss.value, none.value);
    return createCast(builder, loc, loss.value, rankedType(op.getOutput()).getElementType());
  }

private:
  // ---- ops ----

  RankedTensorType type(ArrayRef<int64_t> shape) { return RankedTensorType::get(shape, f64); }
  IntegerAttr number(int64_t value) { return builder.getI64IntegerAttr(value); }
  BoolAttr flag(bool value) { return builder.getBoolAttr(value); }

  /// A number without its fraction, in f64.
  E whole(Value value) {
    Type element = rankedType(value).getElementType();
    if (isa<FloatType>(element))
      value = createCast(builder, loc, value, builder.getI32Type());
    return {createCast(builder, loc, value, f64), &builder};
  }
  template <typename Op> Value across(ArrayRef<int64_t> shape, Value a, Value b) {
    return builder.create<Op>(loc, type(shape), a, b);
  }
  Value reshaped(Value value, ArrayRef<int64_t> shape) {
    return createReshape(builder, loc, value, shape);
  }
  /// The numbers 0, 1, ... as a row [1, count].
  E numbers(int64_t count) {
    Value all = builder.create<ArangeOp>(
        loc, type({count}), builder.getF64FloatAttr(0), builder.getF64FloatAttr(double(count)),
        builder.getF64FloatAttr(1), number(1), flag(false), builder.getStringAttr(""),
        builder.getStringAttr("float64"));
    return {reshaped(all, {1, count}), &builder};
  }
  /// `a` where the condition holds, for rows or for elements.
  Value chosen(Value condition, Value a, Value b) {
    return builder.create<WhereOp>(loc, a.getType(), condition, a, b);
  }
  E fixed(E value) { return value.of<BlockGradOp>(); }

  // ---- labels ----

  /// Whether the data have more than `step` steps: 0 or 1 for each row.
  Value isLonger(int64_t step) { return (length > double(step)).value; }

  /// The number of classes of each label, [N, 1].
  E labelLength() {
    if (Value given = op.getLabelLengths()) {
      E count =
          whole(given).withScalar<MaximumScalarOp>(0).withScalar<MinimumScalarOp>(double(labels));
      return {reshaped(count.value, {batch, 1}), &builder};
    }
    // The smallest position of padding, or L.
    E padding = blank == 0 ? label.withScalar<EqualScalarOp>(0) : label < 0.0;
    E position{across<BroadcastMulOp>({batch, labels}, padding.value, numbers(labels).value),
               &builder};
    position = position + (1.0 - padding) * double(labels);
    return {builder.create<MinOp>(loc, type({batch, 1}), position.value,
                                  builder.getDenseI64ArrayAttr({1}), flag(true), flag(false)),
            &builder};
  }

  /// `ofLabels` [..., L] between places of `ofBlanks` [..., 1].
  Value interleaved(Value ofLabels, Value ofBlanks) {
    SmallVector<int64_t> shape(shapeOf(ofLabels)), pairs = shape;
    Value blanks = builder.create<BroadcastToOp>(loc, ofLabels.getType(), ofBlanks, shape);
    pairs.push_back(2);
    const Value both[] = {blanks, ofLabels};
    Value y = builder.create<StackOp>(loc, type(pairs), both, number(int64_t(shape.size())));
    shape.back() = 2 * labels;
    return createConcat(builder, loc, {reshaped(y, shape), ofBlanks}, int64_t(shape.size()) - 1);
  }

  /// log(0) [N, S] but where a path may go on two places further: from a class to the next one, if
  /// it is another.
  Value mayNotSkip() {
    Value first = createSliceAxis(builder, loc, label.value, 1, 0, 1);
    const E none = E{first, &builder}.of<ZerosLikeOp>();
    Value other = none.value;
    if (labels > 1) {
      E before{createSliceAxis(builder, loc, label.value, 1, 0, labels - 1), &builder};
      E after{createSliceAxis(builder, loc, label.value, 1, 1, labels), &builder};
      other = createConcat(builder, loc, {none.value, before.with<NotEqualOp>(after).value}, 1);
    }
    return ((1.0 - E{interleaved(other, none.value), &builder}) * kLogOfZero).value;
  }

  // ---- paths ----

  /// The logarithms of the probabilities of each place's class, [N, S] for each step.
  SmallVector<Value> emissions() {
    Value data = op.getData();
    Value y = builder.create<LogSoftmaxOp>(loc, data.getType(), data, Value(), number(-1),
                                           FloatAttr(), StringAttr(), flag(false));
    y = createTranspose(builder, loc, createCast(builder, loc, y, f64), {1, 0, 2});
    E clipped =
        label.withScalar<MaximumScalarOp>(0).withScalar<MinimumScalarOp>(double(classes - 1));
    Value picks = builder.create<OneHotOp>(
        loc, type({batch, labels, classes}), clipped.value, number(classes),
        builder.getF64FloatAttr(1), builder.getF64FloatAttr(0), builder.getStringAttr("float64"));
    Value ofLabels = builder.create<BatchDotOp>(loc, type({batch, steps, labels}), y, picks,
                                                flag(false), flag(true));
    Value ofBlanks = createSliceAxis(builder, loc, y, 2, blank, blank + 1);
    y = createTranspose(builder, loc, interleaved(ofLabels, ofBlanks), {1, 0, 2});
    if (steps == 1)
      return {reshaped(y, {batch, places})};
    auto cut =
        builder.create<SliceChannelOp>(loc, SmallVector<Type>(size_t(steps), type({batch, places})),
                                       y, number(steps), number(0), flag(true));
    return llvm::to_vector_of<Value>(cut.getResults());
  }

  /// Paths begin with the first blank or the first class.
  Value onlyFirst(Value emitted) {
    E closed = (numbers(places) > 1.0) * kLogOfZero;
    return across<BroadcastAddOp>({batch, places}, emitted, closed.value);
  }

  /// A path stays, goes on one place, or two.
  Value advance(Value paths, Value emitted, Value skips) {
    Value first = createSliceAxis(builder, loc, paths, 1, 0, 1);
    E none = fixed(E{first, &builder}).of<ZerosLikeOp>() + kLogOfZero;
    Value wide = createConcat(builder, loc, {none.value, none.value, paths}, 1);
    E stay{paths, &builder};
    E one{createSliceAxis(builder, loc, wide, 1, 1, places + 1), &builder};
    E two = E{createSliceAxis(builder, loc, wide, 1, 0, places), &builder} + E{skips, &builder};
    E most = fixed(stay.with<MaximumOp>(one.with<MaximumOp>(two)));
    E sum = (stay - most).of<ExpOp>() + (one - most).of<ExpOp>() + (two - most).of<ExpOp>();
    return (E{emitted, &builder} + (most + sum.of<LogOp>())).value;
  }

  /// Paths end with the last class or the blank after it: the logarithm of their sum, [N].
  Value total(Value paths) {
    E distance{
        across<BroadcastSubOp>({batch, places}, numbers(places).value, (labelLength() * 2.0).value),
        &builder};
    E ends = (distance <= 0.0) * (distance >= -1.0);
    E closed = E{paths, &builder} + (1.0 - ends) * kLogOfZero;
    Value most = builder.create<MaxOp>(loc, type({batch, 1}), fixed(closed).value,
                                       builder.getDenseI64ArrayAttr({1}), flag(true), flag(false));
    E shares{across<BroadcastSubOp>({batch, places}, closed.value, most), &builder};
    E sum{builder.create<SumOp>(loc, type({batch}), shares.of<ExpOp>().value,
                                builder.getDenseI64ArrayAttr({1}), flag(false), flag(false)),
          &builder};
    return (E{reshaped(most, {batch}), &builder} + sum.of<LogOp>()).value;
  }

  CTCLossOp op;
  OpBuilder &builder;
  Location loc;
  Type f64;
  int64_t steps, batch, classes, labels, places, blank;
  E label, length = {}; ///< [N, L], [N]
};

} // namespace

Value CTCLossOp::writtenOut(OpBuilder &builder) { return CtcWriter(*this, builder).write(); }

} // namespace lstmc::sym
