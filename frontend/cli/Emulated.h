// Whether what a command would say of time is that of an emulated GPU.
#pragma once

#include <algorithm>

#include "executor/device/DeviceNames.h"
#include "executor/package/PackageData.h"

namespace lstmc::cli {

/// Whether a device of the package is an emulated GPU. Then "-" stands in texts where a time would
/// stand, and documents have "emulated": true.
inline bool onEmulated(const package::PackageData &data) {
  return std::ranges::any_of(data.devices,
                             [](const package::Device &device) { return isEmulated(device.name); });
}

} // namespace lstmc::cli
