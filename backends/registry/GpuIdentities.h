// The GPUs of this process, as processes of one job compare them.
#pragma once

#include <string>
#include <vector>

#include "executor/base/Status.h"
#include "executor/device/DeviceNames.h"

namespace lstmc {

struct GpuIdentities {
  /// The host's name, and what tells hosts of one name apart. For emulated GPUs the environment
  /// variable LSTMC_EMU_HOST stands for the name, so that one machine can be several hosts.
  std::string host, machine;
  /// Of each GPU, by number: the same in all processes of the machine that see it. Emulated GPUs
  /// are those of the process, and their numbers count as the host's.
  std::vector<std::string> identities;
  std::string driver;  ///< version; empty for emulated GPUs
  std::string nccl;    ///< version; empty where it is not here
  std::string missing; ///< why there are none
};

/// `kind`: Gpu or Emu.
GpuIdentities gpuIdentities(DeviceKind kind);

/// "2.28.9", of the NCCL that GPUs of this kind (Gpu or Emu) would use. E0503 says where it was
/// looked for.
Result<std::string> ncclVersion(DeviceKind kind);

} // namespace lstmc
