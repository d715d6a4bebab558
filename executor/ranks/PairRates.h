// How fast messages go between the ranks of a job.
#pragma once

#include <vector>

#include "executor/ranks/Job.h"

namespace lstmc::ranks {

/// Of messages between two ranks, as training sends them.
struct PairRate {
  int a = 0, b = 0;
  double seconds = 0; ///< of a message of one byte, one way
  double bytesPerSecond = 0;
};

/// Measures one pair; all ranks call it together, and all get its rates. E0801 with both ranks
/// where they exchange nothing for 20 s.
Result<PairRate> measurePair(Job &job, int a, int b);

/// Measures every pair, one after another; all ranks call it together, and all get all rates.
/// E0801 with both ranks where a pair exchanges nothing for 20 s.
Result<std::vector<PairRate>> measurePairs(Job &job);

} // namespace lstmc::ranks
