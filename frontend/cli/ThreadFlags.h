// --threads, and the measuring of what devices of that many threads do in a second.
#pragma once

#include <set>

#include "executor/package/PackageData.h"
#include "frontend/cli/Console.h"
#include "frontend/cli/Options.h"

namespace lstmc::cli {

/// Threads of each device that the options ask for, with which it may run.
std::set<int> threadsInQuestion(const Options &options);

/// planning::measureIfNew, said to the user where it took its time.
void measureIfNew(const std::set<int> &threadCounts, Console &console);

/// Threads of each device of a package where `asked` is 0: planning::threadsInForce(), but one
/// where by the measured rates of this machine several are not faster.
int threadsOf(const package::PackageData &data, int64_t asked);

} // namespace lstmc::cli
