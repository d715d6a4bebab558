// From the names that `-d` takes to devices: the one place that knows every backend's runtime.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "executor/base/Status.h"
#include "executor/device/Device.h"
#include "executor/device/DeviceNames.h"

namespace lstmc {

/// Which kernels carry a cpu device's launches out; all give the same bits.
enum class Engine : uint8_t {
  Fast,  ///< the best level of this machine that LSTMC_CPU_LEVEL allows
  Naive, ///< the reference's plain loops
  Null,  ///< nothing is computed: what is left is the executor's own time
};

struct DeviceOptions {
  int threads = 0; ///< per device; 0: the processors shared out evenly, at least one
  Engine engine = Engine::Fast;
};

/// Devices that this build has no runtime for are E0501, with what would do instead.
Result<std::vector<std::unique_ptr<Device>>> makeDevices(const std::vector<DeviceName> &names,
                                                         DeviceOptions options = {});

/// The same, from a list as `-d` takes it.
Result<std::vector<std::unique_ptr<Device>>> makeDevices(std::string_view list,
                                                         DeviceOptions options = {});

} // namespace lstmc
