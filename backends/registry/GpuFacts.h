// What a driver and NVML say of GPUs, as texts.
#pragma once

#include <span>
#include <string>

#include "backends/cuda/runtime/Cards.h"

namespace lstmc {

/// "580.95.05, CUDA 13.0"
std::string gpuDriverVersion(const cuda::Driver &driver);

/// "gpu:0 71.2 GiB free, 93 % busy; gpu:1 …" of the devices that are GPUs of this machine, by their
/// names; empty where NVML says nothing of them.
std::string gpuLoadText(std::span<const std::string> devices, const cuda::Driver &driver,
                        const cuda::Nvml &nvml);

} // namespace lstmc
