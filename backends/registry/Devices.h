// Makes devices from the names that `-d` accepts. The only place that knows the runtime of every
// backend.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "executor/base/Arena.h"
#include "executor/base/Status.h"
#include "executor/device/Device.h"
#include "executor/device/DeviceNames.h"

namespace lstmc {

/// Which kernels a cpu device uses; all but Null give the same bits.
enum class Engine : uint8_t {
  Fast,  ///< the best level of this machine that LSTMC_CPU_LEVEL allows
  Naive, ///< the reference's plain loops
  Null,  ///< computes nothing, so that the executor's own time can be measured
};

struct DeviceOptions {
  int threads = 0; ///< per device; 0: as defaultThreadsOf has it
  Engine engine = Engine::Fast;
  std::vector<int> cards = {}; ///< the GPU of each device; empty: the one of its number
  bool channels = false;       ///< GPUs have channels to those of other processes, with NCCL
  MemorySource memory = {};    ///< of devices whose memory is the host's
};

/// E0501, with an alternative, for a device that this machine or this build has not.
Result<std::vector<std::unique_ptr<Device>>> makeDevices(const std::vector<DeviceName> &names,
                                                         DeviceOptions options = {});

/// The same, from a device list as in `-d`.
Result<std::vector<std::unique_ptr<Device>>> makeDevices(std::string_view list,
                                                         DeviceOptions options = {});

} // namespace lstmc
