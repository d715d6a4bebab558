// How a launch that is under way is asked to end early.
#pragma once

#include <atomic>

namespace lstmc {

/// What the thread's team looks at, if it is in one.
inline constinit thread_local const std::atomic<bool> *stopFlag = nullptr;

/// Whether the launch is to end early, with whatever in its outputs. To be asked between tiles: a
/// load that all threads share. A kernel that leaves its tiles still comes to all its barriers.
inline bool stopAsked() { return stopFlag && stopFlag->load(std::memory_order_relaxed); }

} // namespace lstmc
