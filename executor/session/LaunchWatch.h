// When a launch is late, and who is told.
#pragma once

#include <chrono>
#include <functional>

#include "executor/base/Status.h"

namespace lstmc {

/// A launch that takes long is named, then ended, and a process that may not wait any longer is
/// left. Functions are called on a thread of the session's own; an empty one is nobody.
struct LaunchWatch {
  using Time = std::chrono::milliseconds;
  Time tick{250};       ///< between two looks
  Time named{10'000};   ///< from then on `notice` knows that it is late
  Time ended{60'000};   ///< at least: the run is ended (E0802) when the launch takes longer, and
  int timesMedian = 20; ///< so many times longer than it usually does
  Time grace{10'000};   ///< for the launch under way, once `interrupted`, and once it is ended

  std::function<void(const Error &)> notice;
  std::function<bool()> interrupted;          ///< whether the process is asked to end
  std::function<void(const Error &)> abandon; ///< the launch goes on although it was ended
};

} // namespace lstmc
