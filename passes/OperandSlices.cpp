#include "passes/OperandSlices.h"

#include <optional>

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

#include "executor/abi/Sizes.h"

namespace lstmc::passes {

using Numbers = llvm::ArrayRef<int64_t>;

namespace {

/// [outer, count, inner] of row-major elements; the whole has `all` instead of `count`.
struct Cut {
  int64_t first = 0, count = 1, all = 1, inner = 1;
  size_t axisFromEnd = 0; ///< in the result
};

Numbers numbersOf(mlir::Operation *op, llvm::StringRef name) {
  auto numbers = op->getAttrOfType<mlir::DenseI64ArrayAttr>(name);
  return numbers ? numbers.asArrayRef() : Numbers();
}

Numbers shapeOf(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType()).getShape();
}

std::optional<Cut> rowsOf(mlir::OpResult result) {
  Numbers rows = numbersOf(result.getOwner(), kRowsAttr);
  if (rows.empty() || rows[3 + 2 * result.getResultNumber()] < 0)
    return std::nullopt;
  size_t axis = size_t(rows[3 + 2 * result.getResultNumber()]);
  Numbers after = shapeOf(result).drop_front(axis + 1);
  return Cut{rows[0], rows[1], rows[2], rows[4 + 2 * result.getResultNumber()] * product(after),
             after.size()};
}

std::optional<Cut> stepsOf(mlir::OpResult result) {
  Numbers chunk = numbersOf(result.getOwner(), kChunkAttr), shape = shapeOf(result);
  auto lead = result.getOwner()->getAttrOfType<mlir::DenseBoolArrayAttr>(kStepsLeadAttr);
  if (chunk.empty() || !lead || !lead[result.getResultNumber()])
    return std::nullopt;
  return Cut{chunk[1], chunk[2], chunk[3], product(shape) / chunk[2], shape.size() - 1};
}

/// Extends the axis that was split to the size of the whole. If several axes qualify because the
/// part has a single row, takes the one that is as far from the end as in the result. Returns false
/// if the split is spread over several axes.
bool grow(llvm::MutableArrayRef<int64_t> shape, Numbers part, const Cut &cut) {
  auto holds = [&](size_t axis, bool alone) {
    int64_t after = product(part.drop_front(axis + 1));
    return alone ? after == cut.inner && part[axis] % cut.count == 0
                 : cut.inner % after == 0 && part[axis] % (cut.inner / after * cut.count) == 0;
  };
  for (bool alone : {true, false}) {
    std::optional<size_t> found;
    for (size_t axis = part.size(); axis-- > 0;)
      if (holds(axis, alone) && (!found || part.size() - 1 - axis == cut.axisFromEnd))
        found = axis;
    if (!found)
      continue;
    shape[*found] = shape[*found] / cut.count * cut.all;
    return true;
  }
  return false;
}

} // namespace

void appendOperandSlice(mlir::OpResult result, size_t operand, Numbers shape,
                        llvm::SmallVectorImpl<int64_t> &list) {
  std::optional<Cut> rows = rowsOf(result), steps = stepsOf(result);
  if (!rows && !steps)
    return;
  const int64_t elements = product(shape);
  // The steps precede the rows: they divide the `outer` of [outer, rows, inner].
  Cut row = rows.value_or(Cut{0, 1, 1, elements});
  Cut step = steps.value_or(Cut{0, 1, 1, elements});
  if (!rows)
    row.inner = step.inner;
  int64_t block = row.count * row.inner;
  llvm::SmallVector<int64_t> whole(shape);
  if (step.inner % block != 0 || elements % block != 0 || (rows && !grow(whole, shape, row)) ||
      (steps && !grow(whole, shape, step)))
    return;
  int64_t before = step.first * (step.inner / block);
  int64_t window[] = {(before * row.all + row.first) * row.inner,
                      elements / block,
                      row.all * row.inner,
                      row.count,
                      row.inner,
                      row.inner,
                      1};
  list.append({int64_t(operand), int64_t(std::size(window))});
  list.append(std::begin(window), std::end(window));
  list.push_back(int64_t(shape.size()));
  list.append(whole);
}

void copyOperandSlices(mlir::Operation *from, mlir::Operation *to) {
  mlir::Builder builder(to);
  if (Numbers rows = numbersOf(from, kRowsAttr); !rows.empty()) {
    llvm::SmallVector<int64_t> all(rows.take_front(3));
    for (unsigned i = 0; i < to->getNumResults(); ++i)
      all.append({rows[3], rows[4]});
    to->setAttr(kRowsAttr, builder.getDenseI64ArrayAttr(all));
  }
  if (auto chunk = from->getAttr(kChunkAttr))
    to->setAttr(kChunkAttr, chunk);
  if (auto lead = from->getAttrOfType<mlir::DenseBoolArrayAttr>(kStepsLeadAttr))
    to->setAttr(kStepsLeadAttr, builder.getDenseBoolArrayAttr(
                                    llvm::SmallVector<bool>(to->getNumResults(), lead[0])));
}

} // namespace lstmc::passes
