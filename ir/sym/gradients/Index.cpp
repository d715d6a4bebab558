// Gradients of ops that read elements by index.

#include "ir/sym/Create.h"
#include "ir/sym/GradientBuilder.h"
#include "ir/sym/SymOps.h"
#include "ir/sym/gradients/SendBack.h"

namespace lstmc::sym {

using llvm::LogicalResult;
using llvm::SmallVector;
using llvm::success;
using mlir::Value;

LogicalResult EmbeddingOp::buildGradient(GradientBuilder &builder) {
  if (Value dy = builder.resultGradient(0))
    builder.addIndexUse(getWeight(), dy, getData());
  return success();
}

LogicalResult TakeOp::buildGradient(GradientBuilder &builder) {
  Value dy = builder.resultGradient(0);
  if (!dy || !builder.wants(getA()))
    return success();
  auto table = rankedType(getA());
  int64_t rank = table.getRank(), axis = normalAxis(getAxis(), rank),
          indexRank = rankedType(getIndices()).getRank();
  Value indices = getIndices();
  if (getMode() == "wrap") {
    if (llvm::isa<mlir::FloatType>(rankedType(indices).getElementType())) // -0.5 counts as 0
      indices = builder.create<TruncOp>(getLoc(), indices.getType(), indices);
    indices = builder.create<ModScalarOp>(getLoc(), indices.getType(), indices,
                                          builder.getF64FloatAttr(double(table.getDimSize(axis))),
                                          builder.getBoolAttr(true));
  }
  // A use has the rows of the indices. If the batch is in columns of the table, each row has a sum
  // of its own.
  const BatchPosition batch = builder.batch(getResult());
  if (axis == 0 && rank == 2 && !(batch && batch.axis >= indexRank)) {
    builder.addIndexUse(getA(), dy, indices);
    return success();
  }
  // Move the axis to the front, so that the form is [V, D], sum, and move it back.
  SmallVector<int64_t> toFront, back, flow;
  for (int64_t i = 0; i < indexRank; ++i)
    flow.push_back(axis + i);
  for (int64_t i = 0; i < axis; ++i)
    flow.push_back(i);
  for (int64_t i = axis + indexRank; i < rankedType(dy).getRank(); ++i)
    flow.push_back(i);
  toFront.push_back(axis);
  for (int64_t i = 0; i < rank; ++i)
    if (i != axis)
      toFront.push_back(i);
  back.resize(rank);
  for (auto [i, from] : llvm::enumerate(toFront))
    back[from] = i;
  int64_t rows = table.getDimSize(axis), columns = table.getNumElements() / rows;
  int64_t count = rankedType(indices).getNumElements();
  Value moved = createTranspose(builder, getLoc(), dy, flow);
  moved = createReshape(builder, getLoc(), moved, {count, columns});
  Value flat = createReshape(builder, getLoc(), indices, {count});
  Value sum = builder.create<WeightGradientOp>(
      getLoc(), table.clone({rows, columns}), mlir::ValueRange{moved}, mlir::ValueRange{flat},
      mlir::ValueRange{}, mlir::Value(), llvm::ArrayRef<int64_t>{1}, llvm::ArrayRef<int64_t>{0},
      llvm::ArrayRef<int64_t>{count}, 1, llvm::ArrayRef<int64_t>{1}, builder.shards());
  SmallVector<int64_t> frontShape;
  for (int64_t from : toFront)
    frontShape.push_back(table.getDimSize(from));
  sum = createReshape(builder, getLoc(), sum, frontShape);
  builder.add(getA(), createTranspose(builder, getLoc(), sum, back));
  return success();
}

LogicalResult PickOp::buildGradient(GradientBuilder &builder) {
  return sendBack(*this, builder, [&](Value dy) -> Value {
    int64_t axis = normalAxis(getAxis(), rankedType(getData()).getRank());
    return builder.create<PickGradientOp>(getLoc(), getData().getType(), dy, getIndex(),
                                          builder.getI64IntegerAttr(axis),
                                          builder.getBoolAttr(getMode() == "wrap"));
  });
}

} // namespace lstmc::sym
