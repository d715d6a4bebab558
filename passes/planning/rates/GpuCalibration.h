// What a GPU takes, measured on it.
#pragma once

#include "backends/target/Machine.h"
#include "executor/base/Status.h"
#include "executor/device/DeviceNames.h"
#include "passes/planning/rates/MachineRates.h"

namespace lstmc::planning {

struct GpuMeasured {
  double flopsPerSecond = 0; ///< of a product
  double bytesPerSecond = 0; ///< of a copy, read and written
  double launchSeconds = 0;  ///< of one launch of many that wait for one another
  double recurrences = 1;    ///< times as long as forecast for `machine`
};

Result<GpuMeasured> measureGpu(const DeviceName &device, const target::Machine &machine,
                               const GpuProbe &probe);

} // namespace lstmc::planning
