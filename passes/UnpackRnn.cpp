// unpack-rnn: expands MXNet's fused RNN op to one sym.rnn_layer per layer and direction, or to the
// ops of its steps.

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

#include "executor/abi/Gate.h"
#include "ir/sym/Attributes.h"
#include "ir/sym/Create.h"
#include "ir/sym/SymOps.h"
#include "passes/BatchPositions.h"
#include "passes/Dropout.h"
#include "passes/EntryMarks.h"
#include "passes/Passes.h"
#include "passes/PlacementListener.h"
#include "passes/Replica.h"
#include "passes/RnnSteps.h"
#include "passes/RowMarks.h"

namespace lstmc::passes {

#define GEN_PASS_DEF_UNPACKRNN
#include "passes/Passes.h.inc"

namespace {

using mlir::Value;

class Unpack {
public:
  Unpack(sym::RnnOp rnn, bool training)
      : rnn(rnn), training(training), builder(rnn, &ordinal), loc(rnn.getLoc()),
        units(rnn.getStateSize()), width(rnn.getProjectionSize().value_or(units)),
        layers(rnn.getNumLayers()), directions(rnn.getBidirectional() ? 2 : 1),
        mode(*parseRnnMode(rnn.getMode())), gates(gateCount(mode)) {
    ordinal.setAs(rnn);
  }

  void run() {
    llvm::SmallVector<Value> lastH, lastC;
    Value x = rnn.getData();
    // Unrolled steps multiply all of x at once, and the gradient of w is a sum over all of it:
    // elements of x beyond the lengths may be NaN, and NaN times 0 is NaN.
    if (training && rnn.isWrittenInSteps() && rnn.getSequenceLength())
      x = builder.create<sym::SequenceMaskOp>(loc, x.getType(), x, rnn.getSequenceLength(),
                                              builder.getBoolAttr(true), builder.getF64FloatAttr(0),
                                              builder.getI64IntegerAttr(0));
    placeBiases();
    for (int64_t layer = 0; layer < layers; ++layer) {
      if (layer > 0)
        x = dropout(x, layer - 1);
      llvm::SmallVector<Value> outputs;
      for (int64_t direction = 0; direction < directions; ++direction) {
        const RnnStates made = makeLayer(x, layer, direction);
        outputs.push_back(made.y);
        lastH.push_back(made.h);
        if (made.c)
          lastC.push_back(made.c);
      }
      x = outputs.size() == 1 ? outputs.front() : concat(outputs, /*axis=*/2);
    }
    rnn->getResult(0).replaceAllUsesWith(x);
    if (rnn->getNumResults() > 1)
      rnn->getResult(1).replaceAllUsesWith(stack(lastH));
    if (rnn->getNumResults() > 2)
      rnn->getResult(2).replaceAllUsesWith(stack(lastC));
    rnn.erase();
  }

private:
  /// All weights of all layers and directions come before all biases (mxnet.md section 3.2).
  void placeBiases() {
    const int64_t projection = rnn.getProjectionSize() ? width * units : 0;
    for (int64_t layer = 0; layer < layers; ++layer)
      biasBegin += directions * (gates * units * (inputsOf(layer) + width) + projection);
  }

  int64_t inputsOf(int64_t layer) {
    return layer == 0 ? sym::rankedType(rnn.getData()).getDimSize(2) : directions * width;
  }

  RnnStates makeLayer(Value x, int64_t layer, int64_t direction) {
    int64_t index = layer * directions + direction, inputs = inputsOf(layer);
    Value w = piece({gates * units, inputs}), r = piece({gates * units, width});
    Value projection = rnn.getProjectionSize() ? piece({width, units}) : Value();
    int64_t weightsEnd = at;
    at = biasBegin + index * 2 * gates * units;
    Value bi = piece({gates * units}), bh = piece({gates * units});
    at = weightsEnd;
    if (rnn.isWrittenInSteps())
      return writeSteps(builder, rnn,
                        {.x = x,
                         .w = w,
                         .r = r,
                         .projection = projection,
                         .bi = bi,
                         .bh = bh,
                         .h0 = row(rnn.getState(), index),
                         .c0 = row(rnn.getStateCell(), index),
                         .length = rnn.getSequenceLength(),
                         .reverse = direction == 1,
                         .name = nameOf(layer, direction)});

    auto type = sym::rankedType(x);
    int64_t steps = type.getDimSize(0), batch = type.getDimSize(1);
    auto tensor = [&](llvm::ArrayRef<int64_t> shape) {
      return mlir::RankedTensorType::get(shape, type.getElementType());
    };
    bool lstm = mode == RnnMode::Lstm, gru = mode == RnnMode::Gru;
    mlir::Type none;
    // `before` is the state before each step, for layers in which it cannot be derived from y: one
    // that enters a sequence at its end.
    Value h0 = row(rnn.getState(), index);
    bool needsBefore = training && rnn.getSequenceLength() && direction == 1 && h0;
    auto made = builder.create<sym::RnnLayerOp>(
        loc, tensor({steps, batch, units}), tensor({batch, units}),
        lstm ? tensor({batch, units}) : none,
        training ? tensor({steps, batch, gates * units}) : none,
        training && (lstm || gru) ? tensor({steps, batch, units}) : none,
        needsBefore ? tensor({steps, batch, units}) : none, x, w, r, bi, bh, h0,
        lstm ? row(rnn.getStateCell(), index) : Value(), rnn.getSequenceLength(), rnn.getModeAttr(),
        builder.getBoolAttr(direction == 1), mlir::IntegerAttr());
    if (mlir::StringAttr name = nameOf(layer, direction))
      made->setAttr(sym::kNameAttr, name);
    for (llvm::StringRef group : {sym::kGroupAttr, sym::kRecomputeAttr})
      if (mlir::Attribute given = rnn->getAttr(group))
        made->setAttr(group, given);
    return {made.getY(), made.getHN(), made.getCN()};
  }

  /// MXNet's names of unfused layers: l0, r0 (the other direction), l1, ... Null without a name.
  mlir::StringAttr nameOf(int64_t layer, int64_t direction) {
    auto name = rnn->getAttrOfType<mlir::StringAttr>(sym::kNameAttr);
    if (!name || layers * directions == 1)
      return name;
    return builder.getStringAttr(name.getValue() + "_" + llvm::Twine(direction ? 'r' : 'l') +
                                 llvm::Twine(layer));
  }

  /// The next `shape` elements of the packed parameters: the packed operand, if exactly one was
  /// packed there.
  Value piece(llvm::ArrayRef<int64_t> shape) {
    int64_t size = 1;
    for (int64_t extent : shape)
      size *= extent;
    int64_t begin = at;
    at += size;
    auto wanted =
        mlir::RankedTensorType::get(shape, sym::rankedType(rnn.getParameters()).getElementType());
    Value part;
    if (auto concat = rnn.getParameters().getDefiningOp<sym::RnnParamConcatOp>()) {
      int64_t offset = 0;
      for (Value operand : concat.getOperands()) {
        if (offset == begin && sym::rankedType(operand).getNumElements() == size)
          part = operand;
        offset += sym::rankedType(operand).getNumElements();
      }
    }
    if (!part)
      part = sym::createSliceAxis(builder, loc, rnn.getParameters(), 0, begin, begin + size);
    while (part.getType() != wanted) {
      auto reshape = part.getDefiningOp<sym::ReshapeOp>();
      if (!reshape)
        return sym::createReshape(builder, loc, part, shape);
      part = reshape.getData();
    }
    return part;
  }

  /// Row `index` of a state [L*D, N, _], as [N, _].
  Value row(Value state, int64_t index) {
    if (!state)
      return {};
    if (auto zero = state.getDefiningOp<sym::BeginStateOp>())
      return {};
    auto shape = sym::rankedType(state).getShape();
    Value slice =
        shape[0] == 1 ? state : sym::createSliceAxis(builder, loc, state, 0, index, index + 1);
    return sym::createReshape(builder, loc, slice, shape.drop_front());
  }

  Value stack(llvm::ArrayRef<Value> rows) {
    llvm::SmallVector<Value> parts;
    for (Value row : rows) {
      llvm::SmallVector<int64_t> shape = {1};
      shape.append(sym::rankedType(row).getShape().begin(), sym::rankedType(row).getShape().end());
      parts.push_back(sym::createReshape(builder, loc, row, shape));
    }
    return parts.size() == 1 ? parts.front() : concat(parts, 0);
  }

  Value concat(llvm::ArrayRef<Value> parts, int64_t axis) {
    return sym::createConcat(builder, loc, parts, axis);
  }

  /// Between layers, in training: ordinals of the layers' masks follow the op's own, 2^20 apart
  /// (more than there can be nodes).
  Value dropout(Value x, int64_t layer) {
    double p = rnn.getP().convertToDouble();
    if (!training || p == 0)
      return x;
    int64_t mask =
        rnn->getAttrOfType<mlir::IntegerAttr>(sym::kOrdinalAttr).getInt() + (layer << 20);
    return createDropout(builder, rnn, rnn->getParentOfType<mlir::func::FuncOp>(), x, p, mask);
  }

  sym::RnnOp rnn;
  bool training;
  PlacementListener ordinal{sym::kOrdinalAttr};
  mlir::OpBuilder builder;
  mlir::Location loc;
  int64_t units, width, layers, directions; ///< width: of what goes from step to step
  RnnMode mode;
  int64_t gates;
  int64_t at = 0, biasBegin = 0;
};

struct UnpackRnn : impl::UnpackRnnBase<UnpackRnn> {
  void runOnOperation() override {
    bool training = getOperation()->hasAttr(kTrainingAttr);
    llvm::SmallVector<sym::RnnOp> all;
    getOperation()->walk([&](sym::RnnOp rnn) { all.push_back(rnn); });
    if (training && !shareOf(getOperation())) // replicate has done so for parts
      giveRows(all);
    for (sym::RnnOp rnn : all)
      Unpack(rnn, training).run();
  }

  /// If the layer processes each row of the batch independently, all its data and states have rows:
  /// in a part of the batch these are the part's own rows. Unrolled steps are ordinary ops, and the
  /// order in which gradients sum rows follows from the rows that these have.
  void giveRows(llvm::ArrayRef<sym::RnnOp> all) {
    if (llvm::none_of(all, [](sym::RnnOp rnn) { return rnn.isWrittenInSteps(); }))
      return;
    const BatchPositions positions(getOperation());
    auto hasRows = [&](Value value) { return bool(positions.of(value)); };
    for (sym::RnnOp rnn : all) {
      if (!rnn.isWrittenInSteps() || llvm::none_of(rnn->getOperands(), hasRows) ||
          !rowByRow(rnn, llvm::map_to_vector(rnn->getOperands(),
                                             [&](Value operand) { return positions.of(operand); })))
        continue;
      mlir::OpBuilder builder(rnn);
      auto give = [&](mlir::OpOperand &operand) {
        Value value = operand.get();
        if (!hasRows(value) && !value.getDefiningOp<sym::BeginStateOp>())
          operand.set(
              createOwnRows(builder, value, {1, 1, sym::rankedType(value).getDimSize(1), 1}));
      };
      give(rnn.getDataMutable());
      for (mlir::MutableOperandRange states : {rnn.getStateMutable(), rnn.getStateCellMutable()})
        for (mlir::OpOperand &state : states)
          give(state);
    }
  }
};

} // namespace
} // namespace lstmc::passes
