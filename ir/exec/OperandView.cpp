#include "ir/exec/OperandView.h"

#include "mlir/IR/BuiltinTypes.h"

#include "executor/abi/Hull.h"

namespace lstmc::exec {

std::pair<int64_t, int64_t> OperandView::hull() const {
  if (llvm::is_contained(shape, 0))
    return {offset, offset};
  const std::optional<Hull> reach = hullOf(shape, strides);
  if (!reach) // the view is outside every buffer
    return {INT64_MIN, INT64_MAX};
  return {offset + reach->low, offset + reach->high + 1};
}

void encodeView(const OperandView &view, llvm::SmallVectorImpl<int64_t> &list) {
  if (!view) {
    list.push_back(-1);
    return;
  }
  if (view.whole) {
    list.push_back(0);
    return;
  }
  list.push_back(int64_t(view.shape.size()) + 1);
  list.push_back(view.offset);
  list.append(view.shape.begin(), view.shape.end());
  list.append(view.strides.begin(), view.strides.end());
}

llvm::SmallVector<int64_t, 6> denseStrides(llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<int64_t, 6> strides(shape.size());
  int64_t step = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = step;
    step *= shape[i];
  }
  return strides;
}

DType dtypeOf(mlir::Type element) {
  if (element.isF32())
    return DType::F32;
  if (element.isF64())
    return DType::F64;
  if (element.isF16())
    return DType::F16;
  if (element.isBF16())
    return DType::BF16;
  unsigned width = llvm::cast<mlir::IntegerType>(element).getWidth();
  bool isUnsigned = element.isUnsignedInteger();
  assert((width == 1 || width == 8 || width == 32 || width == 64) &&
         "an element type of abi/DType.h");
  return width == 1    ? DType::Bool
         : width == 8  ? (isUnsigned ? DType::U8 : DType::I8)
         : width == 32 ? DType::I32
                       : DType::I64;
}

mlir::Type typeOf(DType dtype, mlir::MLIRContext *context) {
  switch (dtype) {
  case DType::F32:
    return mlir::FloatType::getF32(context);
  case DType::F64:
    return mlir::FloatType::getF64(context);
  case DType::F16:
    return mlir::FloatType::getF16(context);
  case DType::BF16:
    return mlir::FloatType::getBF16(context);
  case DType::I8:
    return mlir::IntegerType::get(context, 8);
  case DType::U8:
    return mlir::IntegerType::get(context, 8, mlir::IntegerType::Unsigned);
  case DType::I32:
    return mlir::IntegerType::get(context, 32);
  case DType::I64:
    return mlir::IntegerType::get(context, 64);
  case DType::Bool:
    return mlir::IntegerType::get(context, 1);
  }
  return {};
}

} // namespace lstmc::exec
