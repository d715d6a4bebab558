#include "ir/sym/RuleSupport.h"

using namespace mlir;

namespace lstmc::sym {

LogicalResult verifyShapes(Operation *op) { return success(); }
LogicalResult relateEqual(ShapeRelation &relation, Operation *op, Numbers numbers) { return success(); }
LogicalResult relateBroadcast(ShapeRelation &relation, Operation *op, Numbers numbers) { return success(); }

BatchPosition firstBatch(ArrayRef<BatchPosition> operands) {
  for (const BatchPosition &position : operands)
    if (position)
      return position;
  return BatchPosition::none();
}

BatchPosition broadcastBatch(Operation *op, ArrayRef<BatchPosition> operands) {
  auto result = cast<RankedTensorType>(op->getResult(0).getType());
  for (const BatchPosition &position : operands)
    if (position && result.getDimSize(position.axis) == position.outer * position.batch * position.inner)
      return position;
  return BatchPosition::none();
}

static int64_t elements(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() ? tensor.getNumElements() : 0;
}

int64_t defaultFlops(Operation *op) {
  int64_t sum = 0;
  for (Type type : op->getResultTypes())
    sum += elements(type);
  return sum;
}

int64_t defaultMovedBytes(Operation *op) {
  SmallVector<Value> seen(op->getResults());
  for (Value operand : op->getOperands())
    if (!llvm::is_contained(seen, operand))
      seen.push_back(operand);
  int64_t bytes = 0;
  for (Value value : seen)
    if (auto tensor = dyn_cast<TensorType>(value.getType()))
      if (std::optional<DType> dtype = dtypeOf(tensor.getElementType()))
        bytes += elements(tensor) * int64_t(dtypeBytes(*dtype));
  return bytes;
}

int64_t elementwiseFlops(Operation *op) { return defaultFlops(op); }

} // namespace lstmc::sym
