#include "frontend/cli/ThreadFlags.h"

#include "frontend/driver/Ranks.h"
#include "passes/planning/rates/MachineRates.h"

namespace lstmc::cli {

void measureIfNew(const std::set<int> &threadCounts, Console &console) {
  if (isRank())
    return;
  if (std::optional<planning::Measured> measured = planning::measureIfNew(threadCounts))
    console.say(fmt::format("measured this machine for forecasts: {:.1f} s, once; kept in {}",
                            measured->seconds, measured->file));
}

} // namespace lstmc::cli
