// Launches of a package, as a GPU carries them out.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "backends/cuda/runtime/Driver.h"
#include "backends/cuda/runtime/HostCall.h"
#include "backends/cuda/runtime/Launches.h"
#include "backends/cuda/runtime/LibraryCall.h"
#include "backends/cuda/runtime/Streams.h"
#include "executor/device/Device.h"

namespace lstmc::cuda {

/// A kernel of the GPU, ready to be launched.
struct KernelStep {
  DriverFunction function = nullptr;
  GpuLaunch launch;
  std::unique_ptr<LibraryCall> call = nullptr; ///< in place of the kernel
};

/// What carries out one launch of the package.
struct ReadyLaunch {
  std::vector<KernelStep> kernels;
  /// In place of `kernels`, one after the other, if a library refuses those at their first run;
  /// none from then on, so that bits do not change.
  std::vector<std::vector<KernelStep>> instead;
  std::vector<MemoryUse> uses;
  std::unique_ptr<HostCall> onHost; ///< in place of kernels
  std::string label;                ///< for a profiler
};

/// As the driver takes it; a launch in a cluster, or with all blocks at the same time, has an
/// attribute.
LaunchConfig configOf(const GpuLaunch &launch, LaunchAttribute &attribute);

class GpuProgram final : public PreparedProgram {
public:
  explicit GpuProgram(const Driver &driver, DriverContext context)
      : driver_(driver), context_(context) {}
  ~GpuProgram() override;
  GpuProgram(const GpuProgram &) = delete;
  GpuProgram &operator=(const GpuProgram &) = delete;

  size_t size() const override { return launches.size(); }

  /// Of the tables of all launches.
  uint64_t tableBytes() const { return tables_.size(); }
  /// Where they are, which goes into the arguments. With `besides`, memory that is the program's
  /// own, whose bytes count there as long as it has it.
  void setTables(DeviceAddress at, std::shared_ptr<uint64_t> besides = nullptr);
  /// Copies the tables to their place, unless they are there.
  DriverResult placeTables(DriverStream stream);
  /// They are not there any more.
  void loseTables() { placed_ = false; }

  /// Whether the host carries out one of the launches.
  bool needsHost() const;
  /// Whether a library does.
  bool needsLibrary() const;
  KeptGraph &graph(size_t number) { return graphs_[number]; }

  /// Sets `launches`, and takes their tables.
  void take(std::vector<ReadyLaunch> ready);

  std::vector<ReadyLaunch> launches;

private:
  /// A table of a kernel.
  struct Table {
    ReadyLaunch *launch;
    KernelStep *step;
    size_t offset, bytes;
  };

  const Driver &driver_;
  DriverContext context_;
  std::vector<std::byte> tables_;
  std::vector<Table> users_;
  DeviceAddress tablesAt_ = 0;
  std::shared_ptr<uint64_t> besides_; ///< null: they are in the arena
  bool placed_ = false;
  std::map<size_t, KeptGraph> graphs_;
};

} // namespace lstmc::cuda
