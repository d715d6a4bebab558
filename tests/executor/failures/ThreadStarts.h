// Makes thread starts of this process fail.
#pragma once

#include <cstdint>

namespace lstmc::test {

/// From now on, start number `index`, counted from 0 over all threads, fails with EAGAIN.
void failThreadStart(int64_t index);

/// All starts succeed again; returns whether one failed.
bool endFailingThreads();

} // namespace lstmc::test
