#include "passes/MixedRows.h"

#include "ir/sym/Diagnose.h"
#include "ir/sym/SymOps.h"
#include "passes/Replica.h"

namespace lstmc::passes {

using mlir::Operation;
using mlir::Value;
using sym::BatchPosition;

MixedRows::MixedRows(llvm::ArrayRef<Operation *> whole, llvm::ArrayRef<Operation *> part,
                     const BatchPositions &positions)
    : positions(positions), mixing(unsigned(whole.size())) {
  for (auto [index, ops] : llvm::enumerate(llvm::zip_equal(whole, part)))
    if (auto [wholeOp, partOp] = ops; !sumsPart(partOp) && !llvm::isa<sym::GradientOp>(partOp))
      lookAt(index, wholeOp, partOp);
}

/// By the rules of ops; else, a value whose rows nothing says has them where the part differs, if
/// that axis has nothing else.
BatchPosition MixedRows::of(Value whole, Value part) const {
  if (BatchPosition known = positions.of(whole); known || whole.getType() == part.getType())
    return known;
  auto wholeShape = llvm::cast<mlir::RankedTensorType>(whole.getType()).getShape();
  auto partShape = llvm::cast<mlir::RankedTensorType>(part.getType()).getShape();
  BatchPosition found;
  for (auto [axis, extents] : llvm::enumerate(llvm::zip_equal(wholeShape, partShape)))
    if (auto [all, some] = extents; all != some) {
      if (found || all != positions.size())
        return BatchPosition::none();
      found = {int(axis), 1, all, 1};
    }
  return found;
}

/// An op of rows whose result is alike on the whole and on a part mixes them. One whose result is
/// not, and of which nothing says where the rows are, is left to itself if nothing says it of its
/// operands either.
void MixedRows::lookAt(size_t index, Operation *whole, Operation *part) {
  bool known = false, differs = false, unknown = false;
  for (auto [all, some] : llvm::zip_equal(whole->getOperands(), part->getOperands())) {
    known |= bool(positions.of(all));
    differs |= all.getType() != some.getType();
    unknown |= all.getType() != some.getType() && !of(all, some);
  }
  if (!known && !differs)
    return;
  bool mixes = false, lost = false;
  for (auto [all, some] : llvm::zip_equal(whole->getResults(), part->getResults()))
    if (!positions.of(all) && !all.use_empty()) {
      mixes |= all.getType() == some.getType();
      lost |= all.getType() != some.getType();
    }
  if (mixes)
    mixing.set(unsigned(index));
  if (!refused && ((lost && (known || mixes)) || (mixes && unknown)))
    refused = whole;
}

mlir::LogicalResult MixedRows::check(size_t parts) const {
  if (!refused)
    return mlir::success();
  return sym::emitCoded(refused, ErrorCode::E0402)
         << refused->getName().stripDialect() << " mixes the rows of the batch, which is in "
         << parts
         << " parts, so that others cannot tell them apart: compile it for one device, without "
            "accumulation";
}

} // namespace lstmc::passes
