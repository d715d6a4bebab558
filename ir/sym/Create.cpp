#include "ir/sym/Create.h"

#include "ir/sym/Attributes.h"
#include "ir/sym/SymOps.h"

namespace lstmc::sym {

using mlir::Value;

int64_t normalAxis(int64_t axis, int64_t rank) { return axis < 0 ? axis + rank : axis; }

static llvm::StringRef dtypeWord(mlir::Type elementType) {
  std::string_view name = dtypeLongName(*dtypeOf(elementType));
  return {name.data(), name.size()};
}

Value createZeros(mlir::OpBuilder &builder, mlir::Location loc, mlir::RankedTensorType type) {
  return builder.create<ZerosOp>(loc, type, type.getShape(), "", dtypeWord(type.getElementType()));
}

Value createFull(mlir::OpBuilder &builder, mlir::Location loc, mlir::RankedTensorType type,
                 double number) {
  return builder.create<FullOp>(loc, type, type.getShape(), llvm::APFloat(number), "",
                                dtypeWord(type.getElementType()));
}

Value createUniform(mlir::OpBuilder &builder, mlir::Location loc, Value half,
                    llvm::StringRef mode) {
  auto drawn = builder.create<DropoutOp>(loc, half.getType(), half, llvm::APFloat(0.5), mode,
                                         llvm::ArrayRef<int64_t>(), /*cudnn_off=*/false);
  drawn->setAttr(kNumbersAttr, builder.getUnitAttr());
  return drawn;
}

Value createCast(mlir::OpBuilder &builder, mlir::Location loc, Value value,
                 mlir::Type elementType) {
  auto type = rankedType(value);
  if (type.getElementType() == elementType)
    return value;
  return builder.create<CastOp>(loc, type.clone(elementType), value, dtypeWord(elementType));
}

Value createReshape(mlir::OpBuilder &builder, mlir::Location loc, Value value,
                    llvm::ArrayRef<int64_t> shape) {
  auto type = rankedType(value);
  if (type.getShape() == shape)
    return value;
  return builder.create<ReshapeOp>(loc, type.clone(shape), value, shape);
}

Value createSliceAxis(mlir::OpBuilder &builder, mlir::Location loc, Value value, int64_t axis,
                      int64_t begin, int64_t end) {
  auto type = rankedType(value);
  llvm::SmallVector<int64_t> shape(type.getShape());
  shape[axis] = end - begin;
  return builder.create<SliceAxisOp>(loc, type.clone(shape), value, builder.getI64IntegerAttr(axis),
                                     builder.getI64IntegerAttr(begin),
                                     builder.getI64IntegerAttr(end));
}

Value createConcat(mlir::OpBuilder &builder, mlir::Location loc, llvm::ArrayRef<Value> parts,
                   int64_t axis) {
  if (parts.size() == 1)
    return parts.front();
  auto type = rankedType(parts.front());
  llvm::SmallVector<int64_t> shape(type.getShape());
  shape[axis] = 0;
  for (Value part : parts)
    shape[axis] += rankedType(part).getDimSize(axis);
  return builder.create<ConcatOp>(loc, type.clone(shape), parts, builder.getI64IntegerAttr(axis));
}

Value createTranspose(mlir::OpBuilder &builder, mlir::Location loc, Value value,
                      llvm::ArrayRef<int64_t> permutation) {
  auto type = rankedType(value);
  llvm::SmallVector<int64_t> shape;
  for (int64_t axis : permutation)
    shape.push_back(type.getDimSize(axis));
  return builder.create<TransposeOp>(loc, type.clone(shape), value, permutation);
}

} // namespace lstmc::sym
