#include "passes/Dropout.h"

#include "ir/sym/SymOps.h"

namespace lstmc::passes {

mlir::Value scalarInput(mlir::func::FuncOp entry, llvm::StringRef name) {
  for (unsigned i = 0; i < entry.front().getNumArguments(); ++i)
    if (entry.front().getArgument(i).getType() == mlir::RankedTensorType::get({1}, mlir::IntegerType::get(entry.getContext(), 64)) ||
        name == "learning_rate")
      if (auto attribute = llvm::dyn_cast_or_null<mlir::StringAttr>(entry.getArgAttr(i, "sym.name")))
        if (attribute.getValue() == name)
          return entry.front().getArgument(i);
  llvm_unreachable("a training entry has its scalar inputs");
}

mlir::Value createDropout(mlir::OpBuilder &builder, mlir::Location loc, mlir::func::FuncOp entry, mlir::Value x,
                          double p, int64_t ordinal, llvm::ArrayRef<int64_t> axes) {
  auto type = llvm::cast<mlir::RankedTensorType>(x.getType());
  llvm::SmallVector<int64_t> shape(type.getShape());
  for (int64_t axis : axes)
    shape[axis < 0 ? axis + type.getRank() : axis] = 1;
  mlir::Value mask = builder.create<sym::DropoutMaskOp>(
      loc, mlir::RankedTensorType::get(shape, type.getElementType()), scalarInput(entry, "seed"),
      scalarInput(entry, "update"), builder.getF64FloatAttr(p), builder.getI64IntegerAttr(ordinal));
  if (mask.getType() == x.getType())
    return builder.create<sym::ElemwiseMulOp>(loc, type, x, mask);
  return builder.create<sym::BroadcastMulOp>(loc, type, x, mask);
}

} // namespace lstmc::passes
