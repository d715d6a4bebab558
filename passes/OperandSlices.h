// Which elements of a whole the results of an op are: said where rows and steps are cut, kept on
// launches.
#pragma once

#include "mlir/IR/Operation.h"

namespace lstmc::passes {

/// DenseI64ArrayAttr on ops over some rows of the batch: first row, rows, rows of the whole; then
/// per result `axis` and `inner` of its BatchPosition, axis -1 where it has no rows.
inline constexpr llvm::StringLiteral kRowsAttr = "sym.rows";
/// DenseI64ArrayAttr on ops of a chunk, backward's too: chunk, its first step, its steps, steps of
/// all chunks.
inline constexpr llvm::StringLiteral kChunkAttr = "sym.chunk";
/// DenseBoolArrayAttr on ops of a chunk: per result whether steps are before all else.
inline constexpr llvm::StringLiteral kStepsLeadAttr = "sym.steps_lead";

/// DenseI64ArrayAttr on `exec.launch`: per piece its operand, the length of its window, the window,
/// its rank, the whole's shape.
inline constexpr llvm::StringLiteral kOperandSlicesAttr = "exec.operand_slices";

/// ArrayAttr of locations on `exec.launch` of a fused program that was made from several ops: that
/// of each instruction.
inline constexpr llvm::StringLiteral kInstructionsAttr = "exec.instructions";

/// Appends to the list of kOperandSlicesAttr what operand `operand`, of that shape, is of the
/// whole; it has the elements of `result`, row-major. Nothing where the op does not say that the
/// result is a piece.
void appendOperandSlice(mlir::OpResult result, size_t operand, llvm::ArrayRef<int64_t> shape,
                        llvm::SmallVectorImpl<int64_t> &list);

/// Says of `to`, whose results all are as the first one of `from`, what `from` says.
void copyOperandSlices(mlir::Operation *from, mlir::Operation *to);

} // namespace lstmc::passes
