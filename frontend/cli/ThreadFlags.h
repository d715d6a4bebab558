// --threads, and the measuring of what devices of that many threads do in a second.
#pragma once

#include <set>

#include "frontend/cli/Console.h"
#include "frontend/cli/Options.h"

namespace lstmc::cli {

/// Threads of each device that the options ask for, with which it may run.
std::set<int> threadsInQuestion(const Options &options);

/// planning::measureIfNew, said to the user where it took its time.
void measureIfNew(const std::set<int> &threadCounts, Console &console);

} // namespace lstmc::cli
