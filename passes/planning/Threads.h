// How many threads a device of a package is given where nobody says.
#pragma once

#include "executor/package/PackageData.h"

namespace lstmc::planning {

/// Threads of each device where `asked` is 0: a processor each as far as they go, and one where
/// launches are so short that a second thread would be waited for.
int threadsInForce(const package::PackageData &data, int64_t asked);

} // namespace lstmc::planning
