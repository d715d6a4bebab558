// How many workers of a team take part in its next call.
#pragma once

#include <chrono>

namespace lstmc {

/// All of them, until calls lose time: a worker that has lost its processor to another process
/// keeps all others waiting at every barrier, for milliseconds. Where more than a twentieth of the
/// time goes by so, half as many workers are better, and one never waits; results do not depend on
/// their number. All are tried again after a pause, which is 20 times what was lost, and doubles
/// while that goes wrong.
class TeamSize {
public:
  using Clock = std::chrono::steady_clock;
  using Duration = Clock::duration;

  /// `most` workers on so many processors.
  TeamSize(int most, int processors);

  /// The number for a call that begins now.
  int at(Clock::time_point now) {
    if (size_ < most_ && now >= again_)
      grow(now);
    return size_;
  }

  /// A call that has ended now: the caller waited this part of it for workers that did not come.
  void waited(Clock::time_point begin, Clock::time_point now, Duration waiting);

private:
  void grow(Clock::time_point now);

  const int most_;
  const double usual_; ///< the share of a call that its caller may wait and be content
  int size_;
  Clock::time_point again_{};   ///< when more workers are tried
  Clock::time_point counted_{}; ///< `debt_` is that of this time
  Duration debt_{};             ///< lost lately, less a twentieth of the time since
  Duration pause_{};
};

} // namespace lstmc
