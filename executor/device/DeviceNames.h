// Devices by name, as `-d` takes them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "executor/abi/Devices.h"
#include "executor/base/Status.h"

namespace lstmc {

/// Emu is a GPU emulated by the host, for correctness (backends/cuda). For tests: Trap, a cpu whose
/// memory the host cannot see (backends/trap), and Null, which computes nothing (backends/null).
enum class DeviceKind : uint8_t { Cpu, Gpu, Trap, Null, Emu };

struct DeviceName {
  DeviceKind kind = DeviceKind::Cpu;
  int index = 0;
  int part = 0; ///< of a GPU that is several devices

  /// "cpu:0", or "gpu:0.1" of a part but the first.
  std::string text() const;
  bool operator==(const DeviceName &) const = default;
};

/// `cpu`, `4xcpu` (cpu:0 to cpu:3), `cpu:0,2`, `2xgpu`, `gpu:0,0` (one GPU, as the devices gpu:0
/// and gpu:0.1), `cpu:0,gpu:1`: a number after the colon is an index, one before the x a count, and
/// a bare number after a comma another index of the same kind. A device that is no GPU may stand
/// once only. E0001 for anything else.
Result<std::vector<DeviceName>> parseDevices(std::string_view list);

/// Whether the list, which may be `emu:local`, names an emulated GPU. A time of a run on one is
/// that of the emulation, so it is shown as no GPU's.
bool isEmulated(std::string_view list);

/// The machine's device that this is, or is a part of: "gpu:0" of "gpu:0.1".
inline std::string_view wholeDevice(std::string_view name) {
  return name.substr(0, name.find('.'));
}

/// Whether the list is `gpu:local` or `emu:local`, of which each rank of a job takes one of its
/// host's; and which of them.
std::optional<DeviceKind> localGpus(std::string_view list);

} // namespace lstmc
