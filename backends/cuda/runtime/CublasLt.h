// NVIDIA's library of products as a table of function pointers, loaded when it is asked for, so
// that no build needs it and an emulated one can take its place.
#pragma once

#include <string>

#include "backends/cuda/runtime/Driver.h"
#include "backends/cuda/text/LibraryPlaces.h"

namespace lstmc::cuda {

// As the library's binary interface has them.
using CublasResult = int; ///< 0: done
using CublasHandle = struct OpaqueCublas *;
using CublasProduct = struct OpaqueCublasProduct *;
using CublasLayout = struct OpaqueCublasLayout *;
using CublasPreference = struct OpaqueCublasPreference *;
/// May be kept for the same version of the library.
struct CublasAlgorithm {
  uint64_t data[8] = {};
};
struct CublasChoice {
  CublasAlgorithm algorithm;
  size_t workspaceBytes = 0;
  CublasResult state = 0;
  float waves = 0;
  int reserved[4] = {};
};

inline constexpr CublasResult kCublasInvalidValue = 7, kCublasNotSupported = 15;
inline constexpr int kCublasFloat = 0; ///< of an element, and of alpha and beta
/// How a product is computed, by RoundedTo (abi/FastRules.h): sums in f32, of operands of f32 that
/// the library may round for tensor cores.
inline constexpr int kCublasCompute[] = {68, 77, 75, 74};
/// Of setProduct.
inline constexpr int kCublasEpilogue = 7, kCublasBias = 8;
inline constexpr int kCublasAddBias = 4; ///< an epilogue
/// Of setLayout.
inline constexpr int kCublasMatrices = 5, kCublasMatrixStride = 6;
/// Of setPreference: alignments of A to D follow one another.
inline constexpr int kCublasMostWorkspace = 1, kCublasAlignmentA = 5;
/// Of configuration.
inline constexpr int kCublasAlgorithmNumber = 0;

struct CublasLt {
#define LSTMC_CUBLASLT(RESULT, FIELD, SYMBOL, PARAMETERS) RESULT(*FIELD) PARAMETERS = nullptr;
#include "backends/cuda/runtime/CublasLt.def"
};

/// "13.0.2"
std::string versionOf(const CublasLt &library);

/// The first library of these files that has all functions.
/// E0503 says what is missing and where it was looked for.
Result<CublasLt> loadCublasLt(const LibraryPlaces &places);

/// That of this machine, for a driver of this version (13000): not of a newer major version. Loaded
/// at the first call. E0503 as of loadCublasLt.
Result<const CublasLt *> machineCublasLt(int driverVersion);

} // namespace lstmc::cuda
