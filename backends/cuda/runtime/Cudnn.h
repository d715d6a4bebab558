// NVIDIA's library of neural networks as a table of function pointers, loaded when it is asked for,
// so that no build needs it and an emulated one can take its place.
#pragma once

#include <string>

#include "backends/cuda/runtime/Driver.h"
#include "backends/cuda/text/LibraryPlaces.h"

namespace lstmc::cuda {

// As the library's binary interface has them.
using CudnnResult = int; ///< 0: done
using CudnnHandle = struct OpaqueCudnn *;
using CudnnTensor = struct OpaqueCudnnTensor *;
using CudnnSequences = struct OpaqueCudnnSequences *; ///< of all steps
using CudnnLayer = struct OpaqueCudnnLayer *;

inline constexpr CudnnResult kCudnnBadParameter = 2000, kCudnnNotSupported = 3000,
                             kCudnnExecutionFailed = 5000;
/// Whether the library does not do what it is asked for, so that it has done nothing. It has a
/// number for each reason: 3000 to 3999.
constexpr bool isUnsupported(CudnnResult error) {
  return error / 1000 == kCudnnNotSupported / 1000;
}
inline constexpr int kCudnnFloat = 0;
/// Of setSequences: [T, B, width] without gaps.
inline constexpr int kCudnnPacked = 1;
/// Of setLayer: algorithms. The persistent ones carry out all steps in one kernel.
inline constexpr int kCudnnStandard = 0, kCudnnPersistent = 1, kCudnnPersistentSmallH = 3;
/// Of setLayer. Modes are those of RnnMode, and gates have its order.
inline constexpr int kCudnnNoBias = 0, kCudnnInputBias = 1, kCudnnBothBiases = 2,
                     kCudnnRecurrentBias = 3;
inline constexpr int kCudnnOneDirection = 0;
inline constexpr int kCudnnMultipliesInputs = 0;
inline constexpr int kCudnnFma = 3; ///< arithmetic of f32, whose operands are not rounded
/// Of workspaceBytes and advance: nothing is kept for backward.
inline constexpr int kCudnnInference = 0;

struct Cudnn {
#define LSTMC_CUDNN(RESULT, FIELD, SYMBOL, PARAMETERS) RESULT(*FIELD) PARAMETERS = nullptr;
#include "backends/cuda/runtime/Cudnn.def"
};

/// "9.12.0"
std::string versionOf(const Cudnn &library);

/// The first library of these files that has all functions.
/// E0503 says what is missing and where it was looked for.
Result<Cudnn> loadCudnn(const LibraryPlaces &places);

/// That of this machine, loaded at the first call. E0503 as of loadCudnn.
Result<const Cudnn *> machineCudnn();

} // namespace lstmc::cuda
