// How many devices there may be.
#pragma once

namespace lstmc {

/// Most devices that a list may name and a package may have: each has a thread and an arena of its
/// own, so a file of a kilobyte may not ask for a thousand.
inline constexpr int kMaxDevices = 64;

} // namespace lstmc
