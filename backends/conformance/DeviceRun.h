// Runs a test launch on a device: copies its memory in, launches, and copies its memory out.
#pragma once

#include "backends/conformance/TestLaunch.h"
#include "executor/base/Status.h"
#include "executor/device/Device.h"

namespace lstmc::conformance {

/// Runs `launch`, so many times, in an arena of its own, guard zones and gaps included, and copies
/// the device's memory back to the launch afterwards. E0402 if the device does not have the kernel.
/// The former contents of the arena are lost.
Status runOn(Device &device, TestLaunch &launch, FastRules fast = {}, int runs = 1);

} // namespace lstmc::conformance
