#include "passes/planning/forecast/SideBySide.h"

#include <algorithm>

#include "passes/planning/forecast/Forecast.h"

namespace lstmc::planning {

namespace {

/// Number of recent launches that are remembered as possibly concurrent with the next one.
constexpr size_t kRemembered = 32;
/// Tolerance: fractions that add up to slightly more than the device still fit.
constexpr double kWhole = 1 + 1e-9;

} // namespace

void SideBySide::comeTogether(double time) {
  streams_.fill(time);
  end_ = std::max(end_, time);
  events_.clear(); // what waits for them comes after this moment
  running_.clear();
  earliest_ = std::max(earliest_, time);
}

double SideBySide::place(const package::Launch &launch, double seconds,
                         const target::Share &share) {
  double begin = std::max(streams_[launch.stream], earliest_);
  for (uint32_t event : launch.waits)
    if (auto found = events_.find(int32_t(event)); found != events_.end())
      begin = std::max(begin, found->second);
  const double alone = std::min(share.alone, seconds);
  const double wanted = begin + alone, room = freeFrom(wanted, seconds - alone, share.part);
  if (room > wanted)
    begin = room - alone;
  const double end = begin + seconds;
  remember({begin + alone, end, share.part});
  streams_[launch.stream] = end;
  end_ = std::max(end_, end);
  if (launch.event >= 0)
    events_[launch.event] = end;
  return begin;
}

double SideBySide::inUse(double time) const {
  double part = 0;
  for (const Running &other : running_)
    if (other.begin <= time && time < other.end)
      part += other.part;
  return part;
}

double SideBySide::freeFrom(double time, double seconds, double part) const {
  std::vector<double> moments = {time}; // room comes when something ends
  for (const Running &other : running_)
    if (other.end > time)
      moments.push_back(other.end);
  std::ranges::sort(moments);
  for (double from : moments) {
    bool isFree = inUse(from) + part <= kWhole;
    for (const Running &other : running_)
      if (isFree && from < other.begin && other.begin < from + seconds)
        isFree = inUse(other.begin) + part <= kWhole;
    if (isFree)
      return from;
  }
  return moments.back();
}

void SideBySide::remember(Running launch) {
  if (running_.size() == kRemembered) {
    auto first = std::ranges::min_element(running_, {}, &Running::end);
    earliest_ = std::max(earliest_, first->end);
    running_.erase(first);
  }
  running_.push_back(launch);
}

double busySeconds(const std::vector<LaunchTime> &launches) {
  std::vector<LaunchTime> sorted = launches;
  std::ranges::sort(sorted, {}, &LaunchTime::begin);
  double busy = 0, done = 0;
  for (const LaunchTime &time : sorted) {
    busy += std::max(0.0, time.end - std::max(done, time.begin));
    done = std::max(done, time.end);
  }
  return busy;
}

} // namespace lstmc::planning
