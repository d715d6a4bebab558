// Launches of a device on several streams: when each begins.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "backends/target/Target.h"
#include "executor/abi/Streams.h"
#include "executor/package/PackageData.h"

namespace lstmc::planning {

/// Launches come in the order of their list. One begins when its stream and what it waits for are
/// done. What of it needs a part of the device (target::Share) waits until that part is free; it is
/// never in pieces, and those that come later in the list make room for none before them.
class SideBySide {
public:
  explicit SideBySide(double begin) { comeTogether(begin); }

  /// When all is done so far.
  double end() const { return end_; }
  /// No stream goes on before `time`.
  void comeTogether(double time);
  /// When a launch begins that takes so long.
  double place(const package::Launch &launch, double seconds, const target::Share &share);

private:
  struct Running {
    double begin, end, part;
  };

  /// From `time` on, the first moment from which a part is free for so long.
  double freeFrom(double time, double seconds, double part) const;
  double inUse(double time) const;
  void remember(Running launch);

  std::array<double, kMaxStreams> streams_{};
  std::unordered_map<int32_t, double> events_;
  std::vector<Running> running_; ///< the last that took a part of the device
  double earliest_ = 0; ///< no launch begins before what is no longer in running_ has ended
  double end_ = 0;
};

struct LaunchTime;
/// Seconds in which at least one of them ran.
double busySeconds(const std::vector<LaunchTime> &launches);

} // namespace lstmc::planning
