#include "passes/Dropout.h"

#include "ir/sym/Attributes.h"
#include "ir/sym/SymOps.h"

namespace lstmc::passes {

mlir::Value scalarInput(mlir::func::FuncOp entry, llvm::StringRef name) {
  auto is = [&](unsigned argument, llvm::StringRef attribute, llvm::StringRef value) {
    auto text = entry.getArgAttrOfType<mlir::StringAttr>(argument, attribute);
    return text && text.getValue() == value;
  };
  for (unsigned i = 0; i < entry.front().getNumArguments(); ++i)
    if (is(i, sym::kRoleAttr, "scalar") && is(i, sym::kNameAttr, name))
      return entry.front().getArgument(i);
  llvm_unreachable("a training entry has its scalar inputs");
}

mlir::Value createDropout(mlir::OpBuilder &builder, mlir::Operation *written,
                          mlir::func::FuncOp entry, mlir::Value x, double p, int64_t ordinal,
                          llvm::ArrayRef<int64_t> axes) {
  mlir::Location loc = written->getLoc();
  auto type = llvm::cast<mlir::RankedTensorType>(x.getType());
  llvm::SmallVector<int64_t> shape(type.getShape());
  for (int64_t axis : axes)
    shape[axis < 0 ? axis + type.getRank() : axis] = 1;
  mlir::Value mask = builder.create<sym::DropoutMaskOp>(
      loc, mlir::RankedTensorType::get(shape, type.getElementType()), scalarInput(entry, "seed"),
      scalarInput(entry, "update"), builder.getF64FloatAttr(p), builder.getI64IntegerAttr(ordinal),
      written->getAttrOfType<mlir::UnitAttr>(sym::kNumbersAttr));
  mlir::Value dropped = mask.getType() == x.getType()
                            ? mlir::Value(builder.create<sym::ElemwiseMulOp>(loc, type, x, mask))
                            : builder.create<sym::BroadcastMulOp>(loc, type, x, mask);
  for (mlir::Operation *made : {mask.getDefiningOp(), dropped.getDefiningOp()})
    for (llvm::StringRef group : {sym::kGroupAttr, sym::kRecomputeAttr})
      if (mlir::Attribute given = written->getAttr(group))
        made->setAttr(group, given);
  return dropped;
}

} // namespace lstmc::passes
