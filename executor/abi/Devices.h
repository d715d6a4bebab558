// How many devices there may be.
#pragma once

namespace lstmc {

/// Most devices in a device list and in a package. Each has a thread and an arena of its own, so
/// without a limit a file of a kilobyte could ask for a thousand of them.
inline constexpr int kMaxDevices = 64;

} // namespace lstmc
