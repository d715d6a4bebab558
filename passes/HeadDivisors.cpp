#include "passes/HeadDivisors.h"

#include "executor/abi/Sizes.h"
#include "ir/sym/Attributes.h"
#include "ir/sym/Create.h"

namespace lstmc::passes {

llvm::SmallVector<int64_t> wholeShape(mlir::Value value, const BatchPositions &positions,
                                      const std::optional<Share> &share) {
  llvm::SmallVector<int64_t> shape(sym::rankedType(value).getShape());
  sym::BatchPosition position = positions.of(value);
  if (share && position)
    shape[size_t(position.axis)] = position.outer * share->batch * position.inner;
  return shape;
}

int64_t headDivisor(sym::LossHead head, const BatchPositions &positions,
                    const std::optional<Share> &share) {
  bool scalar = lstmc::product(wholeShape(head->getResult(0), positions, share)) == 1;
  if (scalar || head.normalises())
    return 1;
  return share ? share->batch : positions.size();
}

/// Handwritten IR may lack the attribute.
static int64_t divisorOf(sym::LossHead head, mlir::func::FuncOp entry) {
  if (auto said = head->getAttrOfType<mlir::IntegerAttr>(sym::kHeadDivisorAttr))
    return said.getInt();
  return headDivisor(head, BatchPositions(entry), std::nullopt);
}

std::optional<int64_t> commonHeadDivisor(mlir::func::FuncOp entry) {
  std::optional<int64_t> common;
  bool differ = false;
  entry.walk([&](sym::LossHead head) {
    if (!head->hasAttr(sym::kHeadAttr))
      return;
    int64_t divisor = divisorOf(head, entry);
    differ |= common.value_or(divisor) != divisor;
    common = divisor;
  });
  return differ ? std::nullopt : std::optional(common.value_or(1));
}

} // namespace lstmc::passes
