// How many threads a device of a package is given where nobody says.
#pragma once

#include "backends/target/Machine.h"
#include "executor/package/PackageData.h"

namespace lstmc::planning {

/// Threads of each device where `asked` is 0: a processor each as far as they go, and one where
/// launches are so short that a second thread would be waited for.
int threadsInForce(const package::PackageData &data, int64_t asked);

/// `threads`, or 1 where `several`, the machines of so many, are not clearly faster than those of
/// `one`: in a hundred calls of what the package is for, and its initial values once.
int threadsThatGain(const package::PackageData &data, int threads, const target::Machines &one,
                    const target::Machines &several);

} // namespace lstmc::planning
