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
  /// Without progress for so long, a rank is stuck: one whose devices run, and a job whose ranks
  /// all wait for one another. Between runs, a rank has kHostPatience times as long.
  std::chrono::milliseconds stuckTimeout{60'000};
  std::function<void(const std::string &)> log; ///< gets a line for each event
  /// How often the job was asked to end, and the last signal.
  std::function<std::pair<int, int>()> signals;
};

inline constexpr int kHostPatience = 5;

/// Outcome of a job.
struct JobEnd {
  int exit = 0;
  bool lostRank = false; ///< and so it may be started again
  /// The cause of failure, if no rank has reported one.
  std::string message;
  ErrorCode code = ErrorCode::E0801; ///< of the message, where a rank is lost
};

/// Starts the ranks, and returns when all have ended. A rank is lost when its connection closes
/// before it has reported its end, when its heartbeats stop, or when it is stuck. The others are
/// then notified and given a short time to end before they are killed. E0503 where there is no
/// mpirun; E0801 where no port can be opened.
Result<JobEnd> supervise(const Watch &watch);

} // namespace lstmc::launch
