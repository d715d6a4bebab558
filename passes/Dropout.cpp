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

bool drawsRows(sym::DropoutMaskOp whole, sym::DropoutMaskOp mine, sym::BatchPosition at) {
  if (!whole.getWindow() && !mine.getWindow())
    return true;
  if (!whole.getWindow() || !mine.getWindow() || at.outer != 1 || at.inner != 1)
    return false;
  llvm::ArrayRef<int64_t> all = *whole.getWindow(), part = *mine.getWindow();
  const auto axis = size_t(at.axis);
  if (all.size() != part.size() || all.size() < 3 + 2 * axis)
    return false;
  const int64_t batch = all[1 + 2 * axis], rows = part[1 + 2 * axis];
  int64_t left = all[0], offset = 0; // offset of the first element, divided into the axes
  for (size_t k = 0; 2 * k + 2 < all.size(); ++k) {
    const int64_t stride = all[2 * k + 2], own = part[2 * k + 2];
    const bool equal = k < axis ? stride * rows == own * batch : stride == own;
    if (!equal || stride == 0 || (k != axis && all[2 * k + 1] != part[2 * k + 1]) ||
        (k == axis && left >= stride))
      return false;
    offset += left / stride * own;
    left %= stride;
  }
  return left == 0 && offset == part[0];
}

} // namespace lstmc::passes
