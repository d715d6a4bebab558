// The scratch of kernels: offsets of its parts, and its size. The compiler plans with these
// functions, the check of packages requires their sizes, and kernels use their offsets.
//
// They count in `Size`: int64_t where the extents are known to be valid (compiler, kernels),
// SafeSize of executor/base where they come from a file (the check of packages).
#pragma once

#include "executor/abi/KernelArguments.h"

namespace lstmc {

/// For weight_gradient with an embedding among its uses: partial sums [levels][rows][columns].
template <typename Size> struct WeightGradientScratch {
  Size bytes;
};
template <typename Size>
constexpr WeightGradientScratch<Size> scratchOf(const WeightGradientArguments &arguments, Size rows,
                                                Size columns, int64_t elementBytes) {
  return {Size(treeLevels(arguments.range.count)) * rows * columns * Size(elementBytes)};
}

/// For rnn_forward, in elements. It begins with the projections of a chunk [chunk, B, G*Hpad]; Hpad
/// is H rounded up to the panel. Where the gates are not kept, there is room for two steps at
/// least: a GPU that advances step by step needs W x and R h of a step.
template <typename Size> struct RnnForwardScratch {
  Size h, nextH, c; ///< [B, Hpad] each
  Size sweeps;      ///< 4,096 bytes
  Size bytes;
};
template <typename Size>
constexpr RnnForwardScratch<Size> scratchOf(const RnnForwardArguments &arguments, Size batch,
                                            Size units, int64_t elementBytes, bool keepsGates) {
  const Size state = batch * roundUp(units, kPanel);
  const int64_t steps = keepsGates || arguments.chunk > 1 ? arguments.chunk : 2;
  const Size h = Size(steps) * Size(gateCount(arguments.mode)) * state;
  const Size sweeps = h + Size(3) * state;
  return {h, h + state, h + Size(2) * state, sweeps, sweeps * Size(elementBytes) + Size(4096)};
}

/// For rnn_backward, in elements. It begins with the gradients of a step's gates [B, G*Hpad].
template <typename Size> struct RnnBackwardScratch {
  Size next;   ///< gradients of the gates of the other step
  Size dh, dc; ///< [B, Hpad] each
  Size bytes;
};
template <typename Size>
constexpr RnnBackwardScratch<Size> scratchOf(const RnnBackwardArguments &arguments, Size batch,
                                             Size units, int64_t elementBytes) {
  Size state = batch * roundUp(units, kPanel), gates = Size(gateCount(arguments.mode)) * state;
  Size dh = gates + gates;
  return {gates, dh, dh + state, (dh + Size(2) * state) * Size(elementBytes)};
}

/// For initialise of kind Orthogonal, in bytes, for a matrix of `rows` rows. It begins with the
/// sums of products in f64, [count, block], where count is the smaller of rows and columns. Other
/// kinds use no scratch.
template <typename Size> struct InitialiseScratch {
  Size scales; ///< f64 [block], and what the workers share
  Size matrix; ///< if there are more rows than columns: [columns, rows] of the matrix's type
  Size bytes;
};
template <typename Size>
constexpr InitialiseScratch<Size> scratchOf(const InitialiseArguments &arguments, int64_t rows,
                                            int64_t columns, int64_t elementBytes) {
  if (arguments.kind != InitKind::Orthogonal)
    return {Size(0), Size(0), Size(0)};
  const int64_t count = rows < columns ? rows : columns;
  const int64_t block = count < kOrthogonalBlock ? count : kOrthogonalBlock;
  const Size scales = Size(count) * Size(8 * block);
  const Size matrix = roundUp(scales + Size(8 * (block + 1)), kAlignment);
  return {scales, matrix,
          rows > columns ? matrix + Size(rows) * Size(columns) * Size(elementBytes) : matrix};
}

} // namespace lstmc
