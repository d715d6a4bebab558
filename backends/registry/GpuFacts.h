// The GPUs of this machine as `devices` shows them.
#pragma once

#include <span>

#include "backends/cuda/runtime/Cards.h"
#include "executor/device/DeviceNames.h"

namespace lstmc {

struct GpuFacts {
  std::vector<cuda::CardFacts> cards;
  int count = 0;        ///< of all cards, where `cards` has one of many that are alike
  std::string driver;   ///< its version where NVML says it, and that of CUDA
  std::string compiler; ///< of fused programs, NVRTC; or why there is none
  /// Of cuBLASLt, cuDNN and NCCL, in that order.
  struct Library {
    std::string name, version; ///< version: empty where it is not here
    std::string missing;       ///< why
  };
  std::vector<Library> libraries;
  std::string missing; ///< why there are no cards, or why nothing can run on them; may be empty
};

GpuFacts gpuFacts();

/// "580.95.05, CUDA 13.0"
std::string gpuDriverVersion(const cuda::Driver &driver);

/// One of the emulated cards, which are all alike.
GpuFacts emulatedGpuFacts();

/// Memory of the GPU of this machine that a device is, or is a part of. 0: it is no GPU, or not
/// here.
uint64_t gpuBytes(const DeviceName &device);

/// "gpu:0 71.2 GiB free, 93 % busy; gpu:1 …" of the devices that are GPUs of this machine, by their
/// names; empty where NVML says nothing of them.
std::string gpuLoadText(std::span<const std::string> devices);
std::string gpuLoadText(std::span<const std::string> devices, const cuda::Driver &driver,
                        const cuda::Nvml &nvml);

} // namespace lstmc
