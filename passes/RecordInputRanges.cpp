// record-input-ranges: records the valid value ranges of a net's inputs, and refuses parameters
// that are read as labels or positions.

#include <map>

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "ir/sym/Attributes.h"
#include "ir/sym/Diagnose.h"
#include "ir/sym/OpTable.h"
#include "ir/sym/ValueUse.h"
#include "passes/Passes.h"

namespace lstmc::passes {

#define GEN_PASS_DEF_RECORDINPUTRANGES
#include "passes/Passes.h.inc"

namespace {

using mlir::Value;
using sym::MovedPart;

/// The intersection of two ranges.
ValueRange both(const ValueRange &a, const ValueRange &b) {
  ValueRange range{std::max(a.low, b.low), std::min(a.high, b.high), std::nullopt};
  for (const ValueRange *one : {&a, &b})
    if (one->ignored && a.holds(double(*one->ignored)) && b.holds(double(*one->ignored)))
      range.ignored = one->ignored;
  return range;
}

/// The union of two ranges.
ValueRange either(const ValueRange &a, const ValueRange &b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high), a.ignored ? a.ignored : b.ignored};
}

bool isLabel(mlir::Operation *op, unsigned operand) {
  const sym::OpRecord *record = sym::recordOf(op->getName());
  return record && operand < record->inputs.size() && record->inputs[operand].label;
}

/// What the readers of a value require.
struct Demand {
  std::optional<ValueRange> whole;  ///< of all elements
  mlir::Operation *given = nullptr; ///< an op that reads the value as a label or as positions
  struct Part {
    MovedPart place;
    ValueRange range;
  };
  std::vector<Part> parts;

  void ask(const ValueRange &range) { whole = whole ? both(*whole, range) : range; }
  void askOf(const MovedPart &place, const ValueRange &range) {
    if (place.axis < 0)
      ask(range);
    else
      parts.push_back({place, range});
  }

  /// The resulting range, once all readers are known. Ranges of parts count only if the parts cover
  /// the whole: an element without readers may have any value.
  std::optional<ValueRange> settled(llvm::ArrayRef<int64_t> shape) {
    std::ranges::sort(
        parts, {}, [](const Part &part) { return std::pair(part.place.axis, part.place.begin); });
    for (auto first = parts.begin(); first != parts.end();) {
      ValueRange range = first->range;
      int64_t axis = first->place.axis, covered = 0;
      bool holes = false;
      for (; first != parts.end() && first->place.axis == axis; ++first) {
        holes |= first->place.begin > covered;
        covered = std::max(covered, first->place.end);
        range = either(range, first->range);
      }
      if (!holes && covered == shape[size_t(axis)])
        ask(range);
    }
    return whole && whole->low <= whole->high ? whole : std::nullopt;
  }
};

class Demands {
public:
  /// Visits ops from last to first, because readers come after definitions.
  Demands(mlir::func::FuncOp net, bool labels, bool positions)
      : labels_(labels), positions_(positions) {
    for (mlir::Operation &op : llvm::reverse(net.front()))
      lookAt(&op);
  }

  std::optional<ValueRange> of(Value value) {
    auto found = demands.find(value);
    return found == demands.end()
               ? std::nullopt
               : found->second.settled(
                     llvm::cast<mlir::RankedTensorType>(value.getType()).getShape());
  }

  /// An op for which the value has to be given, directly or after ops that only move elements:
  /// training computes no label and no position. Null if there is none.
  mlir::Operation *givenFor(Value value) const {
    auto found = demands.find(value);
    return found == demands.end() ? nullptr : found->second.given;
  }

private:
  void lookAt(mlir::Operation *op) {
    for (mlir::OpOperand &operand : op->getOpOperands()) {
      unsigned number = operand.getOperandNumber();
      std::optional<ValueRange> range;
      if (auto reader = llvm::dyn_cast<sym::IndexRule>(op))
        range = reader.positionsOf(number);
      if (range)
        demands[operand.get()].ask(*range);
      if ((range && !isLabel(op, number) && positions_) || (isLabel(op, number) && labels_))
        demands[operand.get()].given = op;
      if (auto mover = llvm::dyn_cast<sym::MovementRule>(op))
        for (mlir::OpResult result : op->getResults())
          move(operand, result, mover.movedPart(number, result.getResultNumber()));
    }
  }

  /// Passes what is required of a result on to the operand, a part of which it is.
  void move(mlir::OpOperand &operand, mlir::OpResult result, const std::optional<MovedPart> &part) {
    if (!part)
      return;
    if (std::optional<ValueRange> range = of(result))
      demands[operand.get()].askOf(*part, *range);
    if (mlir::Operation *reader = givenFor(result))
      demands[operand.get()].given = reader;
  }

  const bool labels_, positions_; ///< whether they have to be given
  llvm::DenseMap<Value, Demand> demands;
};

struct RecordInputRanges : impl::RecordInputRangesBase<RecordInputRanges> {
  using Base = impl::RecordInputRangesBase<RecordInputRanges>;
  using Base::Base;

  void runOnOperation() override {
    mlir::NamedAttrList ranges;
    for (auto net : getOperation().getOps<mlir::func::FuncOp>()) {
      Demands demands(net, labels, positions);
      record(net, demands, ranges);
      if (failed(refuseParameters(net, demands)))
        return signalPassFailure();
    }
    if (!ranges.empty())
      getOperation()->setAttr(sym::kInputRangesAttr, ranges.getDictionary(&getContext()));
  }

private:
  mlir::LogicalResult refuseParameters(mlir::func::FuncOp net, const Demands &demands) {
    for (auto parameter : net.getOps<sym::VariableOp>()) {
      mlir::Operation *reader = demands.givenFor(parameter);
      if (!reader || parameter.getInit())
        continue;
      sym::emitCoded(reader, ErrorCode::E0203)
          << sym::recordOf(reader->getName())->mxnetName << " reads \"" << parameter.getName()
          << "\" as an input, and neither its shape nor its data are given";
      return mlir::failure();
    }
    return mlir::success();
  }

  void record(mlir::func::FuncOp net, Demands &demands, mlir::NamedAttrList &ranges) {
    for (mlir::BlockArgument argument : net.getArguments()) {
      auto name = net.getArgAttrOfType<mlir::StringAttr>(argument.getArgNumber(), sym::kNameAttr);
      std::optional<ValueRange> range = demands.of(argument);
      if (!range || !name)
        continue;
      llvm::SmallVector<int64_t> numbers = {range->low, range->high};
      if (range->ignored)
        numbers.push_back(*range->ignored);
      ranges.set(name, mlir::DenseI64ArrayAttr::get(&getContext(), numbers));
    }
  }
};

} // namespace

} // namespace lstmc::passes
