// The measuring of what devices do in a second, before the first job that wants to know it.
#pragma once

#include "frontend/cli/Console.h"
#include "frontend/driver/Threads.h"

namespace lstmc::cli {

/// planning::measureIfNew, said to the user where it took its time.
void measureIfNew(const std::set<int> &threadCounts, Console &console);

} // namespace lstmc::cli
