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
  std::string address = "127.0.0.1";            ///< where ranks connect to: one of this machine's
  std::chrono::milliseconds rendezvous{60'000}; ///< until all ranks have come
  std::chrono::milliseconds silence{2'500};     ///< of a rank that is lost
  std::function<void(const std::string &)> say; ///< what happens, for who wants to know
  /// How many times the job was asked to end, and with which signal the last time.
  std::function<std::pair<int, int>()> askedToEnd;
};

/// What became of a job.
struct JobEnd {
  int exit = 0;
  bool lostRank = false; ///< and so it may be started again
  /// What kept it from being done, where no rank has said so itself.
  std::string message;
};

/// Starts the ranks, and returns when none is left. A rank that ends without a word or is silent
/// for too long is lost: the others are told, have a moment to end, and are killed. E0503 where
/// there is no mpirun; E0801 where no connection can be offered.
Result<JobEnd> supervise(const Watch &watch);

} // namespace lstmc::launch
