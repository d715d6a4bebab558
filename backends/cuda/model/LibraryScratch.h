// The memory of a product that cuBLASLt carries out, which the compiler plans and the runtime uses.
#pragma once

#include "executor/abi/Packing.h"

namespace lstmc::cuda {

/// What the library may use itself, for sums that it splits. Chosen, not measured.
inline constexpr int64_t kLibraryWorkspace = int64_t(4) << 20;
/// Of both parts, as the library likes them.
inline constexpr int64_t kLibraryAlignment = 256;

/// Weights [A, N, K] of f32 as A matrices [K, N], because they are packed for our own kernels.
constexpr int64_t unpackedBytes(int64_t matrices, int64_t columns, int64_t depth) {
  return roundUp(matrices * columns * depth * int64_t(sizeof(float)), kLibraryAlignment);
}
/// With room to begin at a multiple of kLibraryAlignment.
constexpr int64_t libraryScratchBytes(int64_t matrices, int64_t columns, int64_t depth) {
  return kLibraryAlignment + unpackedBytes(matrices, columns, depth) + kLibraryWorkspace;
}

} // namespace lstmc::cuda
