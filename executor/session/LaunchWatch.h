// When a launch counts as late, and the callbacks for that.
#pragma once

#include <chrono>
#include <functional>

#include "executor/base/Status.h"

namespace lstmc {

/// A launch that takes long is first reported and then ended; if it does not end, the program may
/// abandon it. Callbacks run on a thread of the session; empty ones are skipped.
struct LaunchWatch {
  using Time = std::chrono::milliseconds;
  Time tick{250};       ///< time between two checks
  Time named{10'000};   ///< `notice` is called once a launch takes this long
  Time ended{60'000};   ///< the run is ended (E0802) once a launch takes this long and
  int timesMedian = 20; ///< this many times its usual duration
  Time grace{10'000};   ///< for the running launch, after `interrupted` and after its end

  /// Also takes performance warnings of devices (Device::notice).
  std::function<void(const Error &)> notice;
  std::function<void(const std::string &)> choice; ///< what a device chose (Device::choices)
  std::function<bool()> interrupted;               ///< whether the process was asked to end
  std::function<void(const Error &)> abandon;      ///< called if an ended launch keeps running
};

} // namespace lstmc
