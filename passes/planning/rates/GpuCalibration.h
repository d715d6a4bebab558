// Measured rates of a GPU.
#pragma once

#include "backends/target/Machine.h"
#include "executor/base/Status.h"
#include "executor/device/DeviceNames.h"
#include "passes/planning/rates/MachineRates.h"

namespace lstmc::planning {

struct GpuMeasured {
  double flopsPerSecond = 0; ///< of a matrix product
  double bytesPerSecond = 0; ///< of a copy, reads plus writes
  double launchSeconds = 0;  ///< per launch in a chain of dependent launches
  double recurrences = 1; ///< measured time of a recurrence relative to the forecast for `machine`
};

Result<GpuMeasured> measureGpu(const DeviceName &device, const target::Machine &machine,
                               const GpuProbe &probe);

} // namespace lstmc::planning
