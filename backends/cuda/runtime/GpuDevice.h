// A GPU as a device: an arena in its memory, kernels and copies on its streams.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "backends/cuda/model/GpuShape.h"
#include "backends/cuda/runtime/CublasLt.h"
#include "backends/cuda/runtime/Cudnn.h"
#include "backends/cuda/runtime/Driver.h"
#include "backends/cuda/runtime/KernelImage.h"
#include "backends/cuda/runtime/Nccl.h"
#include "backends/cuda/runtime/Nvtx.h"
#include "backends/cuda/text/TextCompiler.h"
#include "executor/device/Device.h"
#include "executor/device/HostDevice.h"

namespace lstmc::cuda {

struct GpuOptions {
  CardNumber card = 0;
  std::span<const KernelImage> images;    ///< of the kernels (images/Images.h)
  KernelChooser onHost = nullptr;         ///< kernels for what the GPU has none for
  const TextCompiler *compiler = nullptr; ///< of fused programs; null: they are interpreted
  const Nccl *nccl = nullptr;             ///< of channels, which it has none without
  /// Of products under --fast cublaslt, asked for when a package has that rule; null: never.
  Result<const CublasLt *> (*cublasLt)() = nullptr;
  /// The same of recurrent layers under --fast cudnn.
  Result<const Cudnn *> (*cudnn)() = nullptr;
  const Nvtx *profiler = nullptr;             ///< null: none listens
  std::optional<AskedWay> way = std::nullopt; ///< for tests: GpuShape::asked
  std::optional<bool> tiles = std::nullopt;   ///< for tests: GpuShape::tiles
};

/// `driver` outlives the device. E0501 if it has no such card, or refuses it.
Result<std::unique_ptr<Device>> makeGpuDevice(std::string name, const Driver &driver,
                                              GpuOptions options);

} // namespace lstmc::cuda
