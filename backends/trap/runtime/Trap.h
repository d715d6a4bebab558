// A device whose memory the host cannot see, for tests: a touch ends the process.
#pragma once

#include <memory>

#include "executor/device/Device.h"

namespace lstmc::trap {

/// `host` with its arena at addresses that may be neither read nor written: what goes through
/// copyIn(), copyOut(), clear() and launches works, a touch of any other kind is SIGSEGV. Launches
/// reach the arenas of other trap devices, and those that the host sees.
std::unique_ptr<Device> makeTrapDevice(std::unique_ptr<Device> host);

} // namespace lstmc::trap
