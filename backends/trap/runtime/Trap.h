// A device for tests whose memory the host cannot see: an access from the host ends the process.
#pragma once

#include <memory>

#include "executor/device/Device.h"

namespace lstmc::trap {

/// `host`, with its arena at addresses that may be neither read nor written. copyIn(), copyOut(),
/// clear() and launches work; any other access causes SIGSEGV. Launches reach the arenas of other
/// trap devices only.
std::unique_ptr<Device> makeTrapDevice(std::unique_ptr<Device> host);

} // namespace lstmc::trap
