// The interfaces of hosts: which message goes when.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <queue>
#include <vector>

#include "backends/target/Machine.h"

namespace lstmc::planning {

/// What an interface did.
struct HostTimes {
  int64_t sentBytes = 0, receivedBytes = 0;
  double sending = 0, receiving = 0; ///< seconds in which that direction was occupied
};

/// A message occupies the sending direction of one host and the receiving direction of another,
/// each until its bytes have passed at that direction's rate, and none of it is left for others; it
/// has come when both are done. Of the messages that wait, the first that was posted and whose two
/// directions are free goes: one that cannot go yet keeps no other waiting.
class Nics {
public:
  /// By Machine::host.
  explicit Nics(const target::Machines &machines);

  static constexpr double kNever = 1e300;

  /// `time`: not before any that next() has given. The bytes that occupy the one direction and the
  /// other are equal, unless the message stands for many (Stretch.h).
  void post(double time, int64_t message, int from, int to, double outBytes, double inBytes);

  /// When something may begin to go; kNever: nothing waits.
  double next() const { return moments_.empty() ? kNever : moments_.top(); }
  /// Lets go what can go at next(): each message, and when it has come.
  void go(const std::function<void(int64_t message, double time)> &comes);

  const std::vector<HostTimes> &times() const { return times_; }

private:
  struct Message {
    int64_t number;
    int from, to;
    double outBytes, inBytes, time;
  };
  /// Of one host, in the order in which they were posted.
  struct Direction {
    double free = 0;
    std::list<uint64_t> waiting; ///< indices of messages_
  };

  bool goes(uint64_t index, double now, const std::function<void(int64_t, double)> &comes);

  std::vector<target::Nic> nics_;
  std::vector<Direction> out_, in_;
  std::vector<HostTimes> times_;
  std::vector<Message> messages_;
  std::vector<bool> gone_;
  std::priority_queue<double, std::vector<double>, std::greater<>> moments_;
};

} // namespace lstmc::planning
