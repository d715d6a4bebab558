// Watches over the ranks of a job from outside.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "executor/base/Status.h"
#include "frontend/launch/Mpirun.h"

namespace lstmc::launch {

struct Watch {
  Start start;
  std::string address = "127.0.0.1"; ///< where ranks connect to: one of this machine's
  std::chrono::milliseconds rendezvousTimeout{60'000}; ///< for all ranks to connect
  std::chrono::milliseconds heartbeatTimeout{2'500};   ///< after it a silent rank is lost
  std::function<void(const std::string &)> log;        ///< gets a line for each event
  /// How many times the job was asked to end, and with which signal the last time.
  std::function<std::pair<int, int>()> signals;
};

/// What became of a job.
struct JobEnd {
  int exit = 0;
  bool lostRank = false; ///< and so it may be started again
  /// What kept it from being done, where no rank has said so itself.
  std::string message;
};

/// Starts the ranks, and returns when all have ended. A rank is lost when its connection closes
/// before it has reported its end, or when its heartbeats stop. The others are then notified and
/// given a short time to end before they are killed. E0503 where there is no mpirun; E0801 where no
/// port can be opened.
Result<JobEnd> supervise(const Watch &watch);

} // namespace lstmc::launch
