// Records which slice of the full tensor an op's result holds. Set when rows or steps are split,
// carried over to launches.
#pragma once

#include "mlir/IR/Operation.h"

namespace lstmc::passes {

/// DenseI64ArrayAttr on ops over a slice of the batch: first row, number of rows, rows of the full
/// batch; then per result the `axis` and `inner` of its BatchPosition (axis -1: no rows).
inline constexpr llvm::StringLiteral kRowsAttr = "sym.rows";
/// DenseI64ArrayAttr on ops of a chunk, in backward too: chunk, first step, number of steps, total
/// steps.
inline constexpr llvm::StringLiteral kChunkAttr = "sym.chunk";
/// DenseBoolArrayAttr on ops of a chunk: per result, whether time is its leading axis.
inline constexpr llvm::StringLiteral kStepsLeadAttr = "sym.steps_lead";

/// DenseI64ArrayAttr on `exec.launch`: for each sliced operand its index, the length of its window,
/// the window, its rank, and the shape of the full tensor.
inline constexpr llvm::StringLiteral kOperandSlicesAttr = "exec.operand_slices";

/// ArrayAttr on `exec.launch` of a fused program created from several ops: the location of each
/// instruction.
inline constexpr llvm::StringLiteral kInstructionsAttr = "exec.instructions";

/// Appends to `list` (see kOperandSlicesAttr) the slice that operand number `operand`, of shape
/// `shape`, holds. The operand has the elements of `result` in row-major order. Appends nothing if
/// the op has no slice annotations.
void appendOperandSlice(mlir::OpResult result, size_t operand, llvm::ArrayRef<int64_t> shape,
                        llvm::SmallVectorImpl<int64_t> &list);

/// Copies `from`'s slice annotations to `to`; all results of `to` have the layout of `from`'s first
/// result.
void copyOperandSlices(mlir::Operation *from, mlir::Operation *to);

} // namespace lstmc::passes
