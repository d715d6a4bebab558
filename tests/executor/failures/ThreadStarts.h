// The threads that this process starts, made to fail.
#pragma once

#include <cstdint>

namespace lstmc::test {

/// From here on the thread number `index`, from 0, cannot be had (EAGAIN), in whatever thread it is
/// asked for.
void failThreadStart(int64_t index);

/// All succeed again; whether one failed.
bool endFailingThreads();

} // namespace lstmc::test
