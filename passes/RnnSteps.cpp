#include "passes/RnnSteps.h"

#include "ir/sym/Attributes.h"
#include "ir/sym/Create.h"
#include "ir/sym/Expression.h"
#include "ir/sym/OpText.h"

namespace lstmc::passes {

using mlir::Value;
using E = sym::Expression;

namespace {

class Writer {
public:
  Writer(mlir::OpBuilder &builder, sym::RnnOp rnn, const RnnSteps &given)
      : builder(builder), rnn(rnn), given(given), loc(rnn.getLoc()),
        units(int64_t(rnn.getStateSize())), width(sym::rankedType(given.r).getDimSize(1)),
        count(sym::rankedType(given.x).getDimSize(0)) {}

  RnnStates run() {
    Value all = product(given.x, given.w, given.bi);
    llvm::SmallVector<Value> inputs = split(all, count, /*axis=*/0, /*squeeze=*/true);
    llvm::SmallVector<Value> real = given.length ? realSteps(all) : llvm::SmallVector<Value>();
    Value h = begin(given.h0, inputs.front(), width), c = begin(given.c0, inputs.front(), units);
    llvm::SmallVector<int64_t> row(sym::rankedType(h).getShape());
    row.insert(row.begin(), 1);
    llvm::SmallVector<Value> ys{size_t(count), Value()};
    for (int64_t step = 0; step < count; ++step) {
      const auto t = size_t(given.reverse ? count - 1 - step : step);
      auto [nextH, nextC] = advance(inputs[t], h, c);
      h = real.empty() ? nextH : where(real[t], nextH, h);
      c = real.empty() ? nextC : where(real[t], nextC, c);
      ys[t] = sym::createReshape(builder, loc, h, row);
    }
    Value y = sym::createConcat(builder, loc, ys, 0);
    if (given.length)
      y = mask(y);
    return {y, h, c};
  }

private:
  Value product(Value x, Value weight, Value bias) {
    auto type = sym::rankedType(x);
    llvm::SmallVector<int64_t> shape(type.getShape());
    shape.back() = sym::rankedType(weight).getDimSize(0);
    return builder.create<sym::FullyConnectedOp>(
        loc, type.clone(shape), x, weight, bias, builder.getI64IntegerAttr(shape.back()),
        builder.getBoolAttr(!bias), /*flatten=*/builder.getBoolAttr(false));
  }

  llvm::SmallVector<Value> split(Value value, int64_t parts, int64_t axis, bool squeeze) {
    auto type = sym::rankedType(value);
    llvm::SmallVector<int64_t> shape(type.getShape());
    shape[size_t(axis)] /= parts;
    if (squeeze)
      shape.erase(shape.begin() + axis);
    llvm::SmallVector<mlir::Type> types{size_t(parts), type.clone(shape)};
    auto cut = builder.create<sym::SliceChannelOp>(
        loc, types, value, builder.getI64IntegerAttr(parts), builder.getI64IntegerAttr(axis),
        builder.getBoolAttr(squeeze));
    return llvm::to_vector_of<Value>(cut.getResults());
  }

  /// The state before the first step. Zeros are derived from a value with the rows of the batch, so
  /// that all later values have them too; the rows of a given state are known only to its layer.
  Value begin(Value state, Value like, int64_t extent) {
    E zeros{sym::createSliceAxis(builder, loc, like, 1, 0, extent), &builder};
    zeros = zeros.of<sym::ZerosLikeOp>();
    return state ? (zeros + E{state, &builder}).value : zeros.value;
  }

  /// For each step [N, H]: ones for sequences that have the step, else zeros.
  llvm::SmallVector<Value> realSteps(Value like) {
    E ones{sym::createSliceAxis(builder, loc, like, 2, 0, units), &builder};
    return split(mask(ones.of<sym::OnesLikeOp>().value), count, 0, true);
  }

  Value mask(Value value) {
    return builder.create<sym::SequenceMaskOp>(
        loc, value.getType(), value, given.length, builder.getBoolAttr(true),
        builder.getF64FloatAttr(0), builder.getI64IntegerAttr(0));
  }

  Value where(Value real, Value then, Value otherwise) {
    const int64_t extent = sym::rankedType(then).getDimSize(1);
    if (extent != units)
      real = sym::createSliceAxis(builder, loc, real, 1, 0, extent);
    return builder.create<sym::WhereOp>(loc, then.getType(), real, then, otherwise);
  }

  struct State {
    Value h, c;
  };
  State advance(Value input, Value h, Value c) {
    E projected{input, &builder}, recurrent{product(h, given.r, given.bh), &builder};
    llvm::SmallVector<Value> gates =
        split((projected + recurrent).value, 4, /*axis=*/1, /*squeeze=*/false); // i f g o
    auto gate = [&](int number) { return E{gates[size_t(number)], &builder}; };
    E kept = gate(1).of<sym::SigmoidOp>() * E{c, &builder};
    E in = gate(0).of<sym::SigmoidOp>(), candidate = gate(2).of<sym::TanhOp>();
    E next = clipped(kept + in * candidate);
    E out = gate(3).of<sym::SigmoidOp>(), shown = next.of<sym::TanhOp>();
    out = out * shown;
    return {given.projection ? product(out.value, given.projection, {}) : out.value, next.value};
  }

  /// c clipped to the range; NaN stays, or becomes its lower end.
  E clipped(E c) {
    if (!rnn.getLstmStateClipMin())
      return c;
    const double low = rnn.getLstmStateClipMin()->convertToDouble();
    if (rnn.getLstmStateClipNan()) {
      E number = c.with<sym::EqualOp>(c), end = c.of<sym::ZerosLikeOp>() + low;
      c = c.make<sym::WhereOp>(number.value, c.value, end.value);
    }
    return c.make<sym::ClipOp>(c.value, rnn.getLstmStateClipMinAttr(),
                               rnn.getLstmStateClipMaxAttr());
  }

  mlir::OpBuilder &builder;
  sym::RnnOp rnn;
  const RnnSteps &given;
  mlir::Location loc;
  int64_t units, width, count;
};

} // namespace

RnnStates writeSteps(mlir::OpBuilder &builder, sym::RnnOp rnn, const RnnSteps &steps) {
  mlir::Operation *before = rnn->getPrevNode();
  const RnnStates states = Writer(builder, rnn, steps).run();
  auto called = builder.getStringAttr(sym::labelOf(rnn));
  for (mlir::Operation *made = before ? before->getNextNode() : &rnn->getBlock()->front();
       made != rnn; made = made->getNextNode()) {
    made->setAttr(sym::kCalledAttr, called);
    for (llvm::StringRef group : {sym::kGroupAttr, sym::kRecomputeAttr})
      if (mlir::Attribute given = rnn->getAttr(group))
        made->setAttr(group, given);
  }
  if (steps.name)
    states.y.getDefiningOp()->setAttr(sym::kNameAttr, steps.name);
  return states;
}

} // namespace lstmc::passes
