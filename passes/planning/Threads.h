// Default number of threads per device.
#pragma once

#include "backends/target/Machine.h"
#include "executor/package/PackageData.h"

namespace lstmc::planning {

/// Threads per device if `asked` is 0: one per processor, but one if launches are too short to gain
/// from a second.
int threadsInForce(const package::PackageData &data, int64_t asked);

/// `threads`; 1 if the machines `several`, with that many threads, are not clearly faster than
/// `one` by forecast of a hundred calls of the package's main entry and one initialisation.
int threadsThatGain(const package::PackageData &data, int threads, const target::Machines &one,
                    const target::Machines &several);

} // namespace lstmc::planning
