// What a driver reserves for the local memory of kernels, beside the arena that is planned.
#pragma once

#include <cstdint>

namespace lstmc::cuda {

enum class LocalMemory : uint8_t {
#define LSTMC_LOCAL(KIND, BYTES, NAMES) KIND,
#include "backends/cuda/model/LocalMemory.def"
};

/// The most that a thread of a kernel of this kind has.
constexpr int64_t localBytes(LocalMemory kind) {
  constexpr int64_t kBytes[] = {
#define LSTMC_LOCAL(KIND, BYTES, NAMES) BYTES,
#include "backends/cuda/model/LocalMemory.def"
  };
  return kBytes[int(kind)];
}

/// A driver reserves it for all threads that a GPU can have at once, when such a kernel is launched
/// first. Source: CUDA C++ Programming Guide 13.0, "Technical Specifications per Compute
/// Capability": at most 2,048 threads of a multiprocessor.
constexpr int64_t reservedBytes(LocalMemory kind, int multiprocessors) {
  constexpr int64_t kThreads = 2048;
  return localBytes(kind) * kThreads * multiprocessors;
}

} // namespace lstmc::cuda
