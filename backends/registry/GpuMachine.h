// The GPUs of this machine as forecasts see them.
#pragma once

#include <string>

#include "backends/target/Machine.h"
#include "executor/base/Status.h"
#include "executor/device/DeviceNames.h"

namespace lstmc {

struct GpuMachine {
  std::string name; ///< "NVIDIA H200"
  /// What the driver says of it, with the rates of the data sheet that its name has, if any.
  target::Machine machine;
};

/// `device` is a Gpu, or an Emu, which stands for one. E0501 where there is no such card.
Result<GpuMachine> gpuMachine(const DeviceName &device);

/// The same card with rates that were measured, and recurrences that take `times` as long.
target::Machine withMeasured(const target::Machine &machine, const target::Speeds &speeds,
                             double times);

} // namespace lstmc
