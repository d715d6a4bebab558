// launch --max-restarts: the checkpoints that a job has made itself.
#pragma once

#include <set>
#include <string>

#include "frontend/cli/Options.h"
#include "frontend/launch/Supervisor.h"

namespace lstmc::cli {

/// Tells the checkpoints of a job from those of earlier runs in the same folder, which --force
/// replaces when the first new one is safe. They may have the same names: what tells them apart is
/// that every checkpoint is a folder of its own.
class JobCheckpoints {
public:
  /// Before the job starts. E0801 where a host does not say what it has.
  static Result<JobCheckpoints> before(const Options &command, const launch::Start &start);

  /// Whether rank 0, where it runs now, can go on from a checkpoint of this job. If so, those of
  /// earlier runs that are still there are removed, so that none of them is the newest. E0801.
  Result<bool> canGoOn(const launch::Start &start) const;

private:
  std::string output_;            ///< empty: the command makes none
  std::set<std::string> earlier_; ///< on any host: name, inode and time of each
};

} // namespace lstmc::cli
