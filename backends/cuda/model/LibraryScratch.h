// The memory of what a library carries out, a product (cuBLASLt) or a recurrent layer (cuDNN),
// which the compiler plans and the runtime uses.
#pragma once

#include "executor/abi/Packing.h"

namespace lstmc::cuda {

/// What cuBLASLt may use itself, for sums that it splits. Chosen, not measured.
inline constexpr int64_t kLibraryWorkspace = int64_t(4) << 20;
/// Of each part, as the libraries like them.
inline constexpr int64_t kLibraryAlignment = 256;

/// Weights [A, N, K] of f32 as A matrices [K, N], because they are packed for our own kernels.
constexpr int64_t unpackedBytes(int64_t matrices, int64_t columns, int64_t depth) {
  return roundUp(matrices * columns * depth * int64_t(sizeof(float)), kLibraryAlignment);
}
/// With room to begin at a multiple of kLibraryAlignment.
constexpr int64_t libraryScratchBytes(int64_t matrices, int64_t columns, int64_t depth) {
  return kLibraryAlignment + unpackedBytes(matrices, columns, depth) + kLibraryWorkspace;
}

/// A recurrent layer of f32 in one direction that keeps nothing for backward.
struct LibraryLayer {
  int64_t gates, steps, batch, inputs, units;
  bool copiesInputs, copiesOutputs; ///< dense, and in the order in which the layer reads them
};

/// Offsets from a multiple of kLibraryAlignment; the weights begin there.
struct LibraryLayerScratch {
  int64_t inputs, outputs, workspace;
  int64_t workspaceBytes; ///< that the library may use itself
  int64_t bytes;          ///< with room to begin at a multiple of kLibraryAlignment
};

/// W, R and both biases, each aligned. The workspace is chosen, since the library says what it
/// wants on a GPU alone: two values of each gate for all steps, the weights once more, and
/// kLibraryWorkspace.
constexpr LibraryLayerScratch libraryScratchOf(const LibraryLayer &l) {
  const auto aligned = [](int64_t elements) {
    return roundUp(elements * int64_t(sizeof(float)), kLibraryAlignment);
  };
  const int64_t width = l.gates * l.units, rows = l.steps * l.batch;
  const int64_t weights = aligned(width * l.inputs) + aligned(width * l.units) + 2 * aligned(width);
  const int64_t outputs = weights + (l.copiesInputs ? aligned(rows * l.inputs) : 0);
  const int64_t workspace = outputs + (l.copiesOutputs ? aligned(rows * l.units) : 0);
  const int64_t workspaceBytes = aligned(2 * rows * width) + weights + kLibraryWorkspace;
  return {weights, outputs, workspace, workspaceBytes,
          kLibraryAlignment + workspace + workspaceBytes};
}

} // namespace lstmc::cuda
