// Launches of a package, as a GPU carries them out.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "backends/cuda/runtime/Driver.h"
#include "backends/cuda/runtime/HostCall.h"
#include "backends/cuda/runtime/Launches.h"
#include "backends/cuda/runtime/Streams.h"
#include "executor/device/Device.h"

namespace lstmc::cuda {

/// A kernel of the GPU, ready to be launched.
struct KernelStep {
  DriverFunction function = nullptr;
  GpuLaunch launch;
};

/// What carries out one launch of the package.
struct ReadyLaunch {
  std::vector<KernelStep> kernels;
  std::vector<MemoryUse> uses;
  std::unique_ptr<HostCall> onHost; ///< in place of kernels
  std::string label;                ///< for a profiler
};

class GpuProgram final : public PreparedProgram {
public:
  explicit GpuProgram(const Driver &driver, DriverContext context)
      : driver_(driver), context_(context) {}
  ~GpuProgram() override;
  GpuProgram(const GpuProgram &) = delete;
  GpuProgram &operator=(const GpuProgram &) = delete;

  size_t size() const override { return launches.size(); }

  /// Puts the tables of all launches into memory of the device and their addresses into the
  /// arguments.
  DriverResult placeTables(DriverStream stream);

  /// Whether the host carries out one of the launches.
  bool needsHost() const;
  KeptGraph &graph(size_t number) { return graphs_[number]; }

  std::vector<ReadyLaunch> launches;

private:
  const Driver &driver_;
  DriverContext context_;
  DeviceAddress tables_ = 0;
  std::map<size_t, KeptGraph> graphs_;
};

} // namespace lstmc::cuda
