// What a program shows to a profiler that is loaded into it: tables of function pointers, which the
// profiler fills. Source: nvtx3/nvtxDetail/nvtxTypes.h of the CUDA toolkit 13.0, whose layout it
// is (tests/gpu/NvtxTableTest.cpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace lstmc::cuda::nvtx {

inline constexpr uint32_t kCallbacks = 1, kVersionInfo = 3; ///< of getExportTable
inline constexpr uint32_t kVersion = 3;

/// Functions by module: those of ranges are of the first.
enum Module : int { Core = 1, Cuda, OpenCl, CudaRuntime, Core2, Sync, kModules };
inline constexpr unsigned kFunctions[kModules] = {0, 16, 9, 15, 7, 16, 7};
inline constexpr unsigned kMostFunctions = 16;
inline constexpr unsigned kRangePush = 9, kRangePop = 11; ///< of Core, text as char

using Function = void (*)();
using FunctionTable = Function **; ///< where each function's pointer goes

struct Callbacks {
  size_t bytes;
  int (*table)(int module, FunctionTable *table, unsigned *count);
};
struct VersionInfo {
  size_t bytes;
  uint32_t version, unused;
  void (*set)(uint32_t version);
};

/// Of the profiler: "InitializeInjectionNvtx2". Not 0: it listens.
using Initialise = int (*)(const void *(*getExportTable)(uint32_t));

} // namespace lstmc::cuda::nvtx
