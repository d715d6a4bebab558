// How many threads a device gets, and how fast it is with them.
#pragma once

#include <set>

#include "executor/package/PackageData.h"
#include "frontend/driver/Notices.h"
#include "frontend/driver/Request.h"

namespace lstmc::driver {

/// Threads of each device that the options ask for, with which it may run.
std::set<int> threadsInQuestion(const RunRequest &options);

/// planning::measureIfNew, said to the user where it took its time.
void measureIfNew(const std::set<int> &threadCounts, const Notices &notices);

/// Threads of each device of a package where `asked` is 0: planning::threadsInForce(), but one
/// where by the measured rates of this machine several are not faster.
int threadsOf(const package::PackageData &data, int64_t asked);

} // namespace lstmc::driver
