// Shapes, batch position and cost of the ops in RecurrentOps.td.
#include "executor/abi/Sizes.h"
#include "ir/sym/ConstantValue.h"
#include "ir/sym/RuleSupport.h"

#include "executor/abi/Gate.h"

using namespace mlir;

namespace lstmc::sym {

using Positions = ArrayRef<BatchPosition>;

//===---- RNN ---------------------------------------------------------------------------------===//

static constexpr int64_t kMostLayers = 1 << 16;
/// Maximum steps of all layers and directions, if each step becomes ops of its own
/// (RnnOp::isWrittenInSteps).
static constexpr int64_t kMostSteps = 1 << 14;

static int64_t gates(StringRef mode) {
  for (auto [i, name] : llvm::enumerate(kRnnModeNames))
    if (mode == StringRef(name))
      return gateCount(RnnMode(i));
  return 0;
}

/// Width of the recurrent state: that of the projection, if there is one.
static int64_t widthOf(RnnOp op) { return op.getProjectionSize().value_or(op.getStateSize()); }

bool RnnOp::isWrittenInSteps() { return getProjectionSize() || getLstmStateClipMin(); }

int64_t RnnOp::resultCount(DictionaryAttr attributes) {
  auto outputs = attributes.getAs<BoolAttr>("state_outputs");
  if (!outputs || !outputs.getValue())
    return 1;
  auto mode = attributes.getAs<StringAttr>("mode");
  return mode && mode == "lstm" ? 3 : 2;
}

/// Learns in both directions: the parameter count from the input width, and the width from the
/// count.
static LogicalResult relateParameters(ShapeRelation &relation, RnnOp op) {
  Value data = op.getData(), parameters = op.getParameters();
  int64_t units = op.getStateSize(), layers = op.getNumLayers(),
          directions = op.getBidirectional() ? 2 : 1, width = widthOf(op);
  int64_t row = product({units, directions, gates(op.getMode())});
  int64_t projections = op.getProjectionSize() ? product({layers, directions, width, units}) : 0;
  int64_t above =
      sum({product({layers - 1, row, sum({product({directions, width}), width, 2})}), projections});
  if (failed(relation.fixRank(parameters, 1)))
    return failure();
  int64_t inputs = relation.extent(data, 2), count = relation.extent(parameters, 0);
  if (inputs != kOpen) {
    int64_t wanted = sum({product({row, sum({inputs, width, 2})}), above});
    if (count == kOpen || count == wanted)
      return relation.fix(parameters, 0, wanted, "elements", "RNN");
    return relation.refuse(ErrorCode::E0207, {{data, 2}, {parameters, 0}})
           << relation.name(parameters) << " has " << count << " elements, " << relation.name(data)
           << " with " << inputs << " inputs needs " << wanted;
  }
  if (count == kOpen)
    return success();
  int64_t rest = count - above;
  if (rest % row != 0 || rest / row - width - 2 < 1)
    return relation.refuse(ErrorCode::E0207, {{parameters, 0}})
           << relation.name(parameters) << " has " << count
           << " elements, which fit no number of inputs";
  return relation.fix(data, 2, rest / row - width - 2, "inputs", "the number of parameters");
}

/// rnn:projection, rnn:clip, rnn:steps
static LogicalResult relateCell(ShapeRelation &relation, RnnOp op) {
  std::optional<APFloat> low = op.getLstmStateClipMin(), high = op.getLstmStateClipMax();
  if (op.getMode() != "lstm" && (op.getProjectionSize() || low || high))
    return relation.refuse(ErrorCode::E0319)
           << "has " << (op.getProjectionSize() ? "projection_size" : "lstm_state_clip")
           << ", which mode lstm alone has, and mode is " << op.getMode();
  if (op.getProjectionSize()) {
    int64_t width = *op.getProjectionSize(), units = op.getStateSize();
    if (failed(atLeast(relation, width, 1, "projection_size")))
      return failure();
    if (width > units)
      return relation.refuse(ErrorCode::E0319)
             << "projection_size is " << width << ", wants at most state_size, which is " << units;
  }
  if (bool(low) != bool(high))
    return relation.refuse(ErrorCode::E0319)
           << "has " << (low ? "lstm_state_clip_min" : "lstm_state_clip_max") << " without "
           << (low ? "lstm_state_clip_max" : "lstm_state_clip_min");
  if (low && !(low->convertToDouble() <= high->convertToDouble()))
    return relation.refuse(ErrorCode::E0319)
           << "lstm_state_clip_min is " << fmt::format("{}", low->convertToDouble())
           << ", wants at most lstm_state_clip_max, which is "
           << fmt::format("{}", high->convertToDouble());
  if (!op.isWrittenInSteps() || !relation.ranked(op.getData()) ||
      relation.rank(op.getData()) != 3 || relation.extent(op.getData(), 0) == kOpen)
    return success();
  int64_t steps = product({relation.extent(op.getData(), 0), int64_t(op.getNumLayers()),
                           op.getBidirectional() ? 2 : 1});
  if (steps > kMostSteps)
    return relation.refuse(ErrorCode::E0402)
           << "has " << steps << " steps in all its layers, and with "
           << (op.getProjectionSize() ? "projection_size" : "lstm_state_clip") << " at most "
           << kMostSteps << " can be planned";
  return success();
}

LogicalResult RnnOp::relateShapes(ShapeRelation &relation) {
  Value data = getData(), output = getOutputs().front(), length = getSequenceLength();
  // rnn:positive, rnn:probability
  double p = getP().convertToDouble();
  if (failed(atLeast(relation, getStateSize(), 1, "state_size")) ||
      failed(atLeast(relation, getNumLayers(), 1, "num_layers")))
    return failure();
  if (int64_t(getNumLayers()) > kMostLayers) // each layer becomes an op
    return relation.refuse(ErrorCode::E0402) << "has " << getNumLayers() << " layers, and at most "
                                             << kMostLayers << " can be planned";
  if (!(p >= 0 && p < 1))
    return relation.refuse(ErrorCode::E0319)
           << "p is " << fmt::format("{}", p) << ", wants 0 <= p < 1, the share that is dropped";
  if (failed(relateCell(relation, *this)))
    return failure();
  bool lstm = getMode() == "lstm";
  if (getStateCell() && !lstm)
    return relation.refuse(ErrorCode::E0319) << "has a state_cell, and mode is " << getMode();
  if (bool(length) != getUseSequenceLength())
    return relation.refuse(ErrorCode::E0319)
           << (length ? "has a sequence_length, and use_sequence_length is False"
                      : "needs sequence_length");
  int64_t results = getStateOutputs() ? (lstm ? 3 : 2) : 1;
  if (int64_t(getOutputs().size()) != results)
    return relation.refuse(ErrorCode::E0319)
           << "has " << getOutputs().size() << " results, wants " << results;

  SmallVector<Value> typed{getParameters(), getState(), getStateCell()};
  llvm::append_range(typed, getOutputs());
  for (int round = 0; round < 2; ++round)
    for (Value value : typed)
      if (value && failed(relation.sameType(data, value)))
        return failure();
  if (failed(wideFloatType(relation, data)))
    return failure();

  // rnn:length
  if (length && failed(lengthWithin(relation, length, data, 0)))
    return failure();

  // rnn:data-rank, rnn:outputs
  int64_t directions = getBidirectional() ? 2 : 1;
  if (failed(relation.fixRank(data, 3)) || failed(relation.fixRank(output, 3)) ||
      failed(relation.equal(output, 0, data, 0, "steps")) ||
      failed(relation.equal(output, 1, data, 1, "sequences")) ||
      failed(relation.fix(output, 2, product({directions, widthOf(*this)}), "units",
                          getProjectionSize() ? "bidirectional * projection_size"
                                              : "bidirectional * state_size")))
    return failure();

  // rnn:parameter-count
  if (failed(relateParameters(relation, *this)))
    return failure();

  // rnn:state-shape
  SmallVector<std::pair<Value, bool>> states{{getState(), false}, {getStateCell(), true}};
  for (auto [i, state] : llvm::enumerate(getOutputs().drop_front()))
    states.emplace_back(state, i == 1);
  for (auto [state, cell] : states) {
    bool projected = getProjectionSize() && !cell;
    if (state && (failed(relation.fixRank(state, 3)) ||
                  failed(relation.fix(state, 0, product({directions, int64_t(getNumLayers())}),
                                      "on axis 0", "num_layers * directions")) ||
                  failed(relation.equal(state, 1, data, 1, "sequences")) ||
                  failed(relation.fix(state, 2, projected ? widthOf(*this) : getStateSize(),
                                      "units", projected ? "projection_size" : "state_size"))))
      return failure();
  }

  // rnn:length-shape
  if (length && (failed(relation.fixRank(length, 1)) ||
                 failed(relation.equal(length, 0, data, 1, "sequences"))))
    return failure();
  return success();
}

BatchPosition RnnOp::batchOfResult(unsigned, Positions operands) {
  // data and states [_, B, _]; sequence_length [B]; parameters have no rows
  for (auto [operand, position] : llvm::enumerate(operands))
    if (position && operand != 1) {
      bool isLength = rankOf(getOperand(unsigned(operand))) == 1;
      return position.axis == (isLength ? 0 : 1) ? movedTo(position, 1) : BatchPosition::none();
    }
  return BatchPosition::none();
}

int64_t RnnOp::flops() {
  ArrayRef<int64_t> data = shapeOf(getData());
  return product({2, data[0], data[1], elementsOf(getParameters())});
}

//===---- _rnn_param_concat -------------------------------------------------------------------===//

/// If several inputs are open, their extents follow from the widths of the layers of the RNN that
/// reads the result.
static LogicalResult relateWidths(ShapeRelation &relation, RnnParamConcatOp op) {
  for (Operation *user : op->getUsers()) {
    auto rnn = dyn_cast<RnnOp>(user);
    auto data = rnn ? dyn_cast<RankedTensorType>(rnn.getData().getType()) : RankedTensorType();
    if (!data || data.getRank() != 3)
      continue;
    int64_t directions = rnn.getBidirectional() ? 2 : 1, layers = rnn.getNumLayers(),
            units = rnn.getStateSize();
    int64_t rows = product({gates(rnn.getMode()), units}), each = rnn.getProjectionSize() ? 3 : 2;
    if (int64_t(op.getArgs().size()) != product({each + 2, layers, directions}))
      continue;
    for (int64_t i = 0; i < layers * directions; ++i) {
      int64_t width = i < directions ? data.getDimSize(2) : product({directions, widthOf(rnn)});
      Value weight = op.getArgs()[size_t(each * i)];
      if (width == kOpen || !relation.ranked(weight))
        continue;
      if (relation.rank(weight) == 2 && relation.extent(weight, 0) == rows &&
          failed(relation.fix(weight, 1, width, "inputs", "what RNN reads")))
        return failure();
      if (relation.rank(weight) == 1 &&
          failed(relation.fix(weight, 0, product({rows, width}), "elements", "what RNN reads")))
        return failure();
    }
  }
  return success();
}

LogicalResult RnnParamConcatOp::relateShapes(ShapeRelation &relation) {
  // rnn_param_concat:count, rnn_param_concat:dim
  if (getArgs().empty())
    return relation.refuse(ErrorCode::E0205) << "wants at least 1 input, got 0";
  if (getDim() != 0)
    return relation.refuse(ErrorCode::E0319) << "dim is " << getDim() << ", wants 0";
  Value output = getOutput();
  for (int round = 0; round < 2; ++round)
    for (Value part : getArgs())
      if (failed(relation.sameType(output, part)))
        return failure();
  if (failed(relation.fixRank(output, 1)))
    return failure();

  // rnn_param_concat:elements
  int64_t known = 0, rows = -1;
  SmallVector<std::pair<Value, int64_t>, 4> open;
  for (Value part : getArgs()) {
    if (!relation.ranked(part))
      return success();
    int64_t elements = 1, openAxis = -1;
    for (auto [axis, extent] : llvm::enumerate(relation.extents(part))) {
      if (extent == kOpen && openAxis >= 0)
        return success();
      if (extent == kOpen)
        openAxis = axis;
      else
        elements = product({elements, extent});
    }
    if (openAxis < 0) {
      known = sum({known, elements});
      continue;
    }
    rows = elements;
    open.emplace_back(part, openAxis);
  }
  int64_t total = relation.extent(output, 0);
  if (open.size() > 1)
    return relateWidths(relation, *this);
  if (open.empty())
    return relation.fix(output, 0, known, "elements", "the sum of its inputs");
  if (total == kOpen)
    return success();
  int64_t missing = total - known;
  if (missing <= 0 || missing % rows != 0)
    return relation.refuse(ErrorCode::E0207, {{output, 0}})
           << relation.name(output) << " has " << total << " elements, its inputs have " << known
           << " and a multiple of " << rows;
  auto [part, axis] = open.front();
  return relation.fix(part, axis, missing / rows, "inputs", "the number of parameters");
}

BatchPosition RnnParamConcatOp::batchOfResult(unsigned, Positions) { return BatchPosition::none(); }

} // namespace lstmc::sym
