// Simulation of the hosts' network interfaces.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <queue>
#include <vector>

#include "backends/target/Machine.h"

namespace lstmc::planning {

/// Traffic of one interface.
struct HostTimes {
  int64_t sentBytes = 0, receivedBytes = 0;
  double sending = 0, receiving = 0; ///< seconds in which that direction was busy
};

/// A message occupies the sender's outgoing and the receiver's incoming direction exclusively, each
/// until its bytes have passed at that direction's rate; it arrives when both are done. Among
/// waiting messages the first posted one with both directions free starts; a blocked message does
/// not block others.
class Nics {
public:
  /// Interfaces, indexed by Machine::host.
  explicit Nics(const target::Machines &machines);

  static constexpr double kNever = 1e300;

  /// Queues a message. `time` must not precede a time that next() returned. `outBytes` and
  /// `inBytes` are equal unless the message represents several (Stretch.h).
  void post(double time, int64_t message, int from, int to, double outBytes, double inBytes);

  /// The next time at which a message may start; kNever if none waits.
  double next() const { return moments_.empty() ? kNever : moments_.top(); }
  /// Starts all messages that can start at next(), and reports the arrival time of each.
  void go(const std::function<void(int64_t message, double time)> &comes);

  const std::vector<HostTimes> &times() const { return times_; }

private:
  struct Message {
    int64_t number;
    int from, to;
    double outBytes, inBytes, time;
  };
  /// One direction of a host's interface; messages wait in the order of posting.
  struct Direction {
    double free = 0;
    std::list<uint64_t> waiting; ///< indices into messages_
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
