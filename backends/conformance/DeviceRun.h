// A test launch on a device: its memory in, the launch, its memory out.
#pragma once

#include "backends/conformance/TestLaunch.h"
#include "executor/base/Status.h"
#include "executor/device/Device.h"

namespace lstmc::conformance {

/// Carries `launch` out in an arena of its own, guard zones and gaps included, and leaves in its
/// memory what the device has there then. E0402 where the device has no such kernel; what the arena
/// held before is lost.
Status runOn(Device &device, TestLaunch &launch);

} // namespace lstmc::conformance
