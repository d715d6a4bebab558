// From devices to the compiler's half of their targets: the one place that knows every backend's.
#pragma once

#include <string_view>

#include "backends/target/Target.h"
#include "executor/device/DeviceNames.h"

namespace lstmc {

const target::Target &targetOf(DeviceKind kind);

/// The same of a device by its name, "cpu:0". A name that is none of a device (tests have such) is
/// taken for a cpu.
const target::Target &targetOf(std::string_view device);

} // namespace lstmc
