// record-input-ranges: records the valid value ranges of a net's inputs.

#include <map>

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "ir/sym/Attributes.h"
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

/// The ranges that the readers of a value require.
struct Demand {
  std::optional<ValueRange> whole; ///< of all elements
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
  explicit Demands(mlir::func::FuncOp net) {
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

private:
  void lookAt(mlir::Operation *op) {
    for (mlir::OpOperand &operand : op->getOpOperands()) {
      unsigned number = operand.getOperandNumber();
      if (auto reader = llvm::dyn_cast<sym::IndexRule>(op))
        if (std::optional<ValueRange> range = reader.positionsOf(number))
          demands[operand.get()].ask(*range);
      if (auto mover = llvm::dyn_cast<sym::MovementRule>(op))
        for (mlir::OpResult result : op->getResults())
          if (std::optional<ValueRange> range = of(result))
            if (std::optional<MovedPart> part = mover.movedPart(number, result.getResultNumber()))
              demands[operand.get()].askOf(*part, *range);
    }
  }

  llvm::DenseMap<Value, Demand> demands;
};

struct RecordInputRanges : impl::RecordInputRangesBase<RecordInputRanges> {
  void runOnOperation() override {
    mlir::NamedAttrList ranges;
    for (auto net : getOperation().getOps<mlir::func::FuncOp>())
      record(net, ranges);
    if (!ranges.empty())
      getOperation()->setAttr(sym::kInputRangesAttr, ranges.getDictionary(&getContext()));
  }

private:
  void record(mlir::func::FuncOp net, mlir::NamedAttrList &ranges) {
    Demands demands(net);
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
