// Start times of launches on the streams of one device.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "backends/target/Target.h"
#include "executor/abi/Streams.h"
#include "executor/package/PackageData.h"

namespace lstmc::planning {

/// Launches are placed in program order. A launch begins when its stream is free and its events
/// have passed. The part of it that occupies the device (target::Share) waits until that fraction
/// is free; it is not split, and later launches do not yield to earlier ones.
class SideBySide {
public:
  explicit SideBySide(double begin) { comeTogether(begin); }

  /// The time at which all launches so far are done.
  double end() const { return end_; }
  /// Synchronises all streams at `time`.
  void comeTogether(double time);
  /// Places a launch of `seconds` seconds and returns its start time.
  double place(const package::Launch &launch, double seconds, const target::Share &share);

private:
  struct Running {
    double begin, end, part;
  };

  /// The first time from `time` on at which the fraction `part` is free for `seconds`.
  double freeFrom(double time, double seconds, double part) const;
  double inUse(double time) const;
  void remember(Running launch);

  std::array<double, kMaxStreams> streams_{};
  std::unordered_map<int32_t, double> events_;
  std::vector<Running> running_; ///< the latest launches that occupy the device
  double earliest_ = 0; ///< end of the launches dropped from running_: no launch begins earlier
  double end_ = 0;
};

struct LaunchTime;
/// Seconds in which at least one of `launches` runs.
double busySeconds(const std::vector<LaunchTime> &launches);

} // namespace lstmc::planning
