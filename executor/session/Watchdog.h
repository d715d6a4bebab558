// Observes devices while they run. It reports and then ends a launch that does not finish, and ends
// a run in which devices wait for one that makes no progress.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "executor/session/BoundEntry.h"
#include "executor/session/LaunchWatch.h"
#include "executor/session/Peers.h"
#include "executor/session/Transport.h"

namespace lstmc::session {

/// A thread that checks every tick how far each device has come. It remembers the durations of
/// launches that take longer than two ticks, so usual durations are known for long launches and
/// short ones cost nothing. While nothing runs it sleeps: an idle session wakes nobody. Time in
/// which the watchdog itself did not run (the process was stopped) is not counted. Package and
/// devices outlive it.
class Watchdog {
public:
  /// `end` stops the current run. It is called for a late launch, and when devices have waited for
  /// longer than the deadline while none reached another segment and no launch ran. Throws
  /// std::system_error if the thread cannot be started.
  Watchdog(const package::Package &package, const Devices &devices, LaunchWatch watch,
           std::chrono::milliseconds deadline, std::function<void(const Error &)> end);
  ~Watchdog() { leave(); }
  Watchdog(const Watchdog &) = delete;
  Watchdog &operator=(const Watchdog &) = delete;

  /// Stops checking; no callback is made afterwards.
  void leave();

  /// Called when a part of the entry begins on all its devices.
  void expect(const BoundEntry &entry);
  // On the device's thread.
  /// The device has reached this segment of its program.
  void at(size_t device, size_t segment);
  /// The device has finished its part.
  void done(size_t device);

  // From any thread.
  /// How far this process has come. While a device is in a launch, it gets on: launches have
  /// deadlines of their own.
  Standing standing();
  /// Whether a message has arrived, or else has been sent: a device that waits for it all the same
  /// waits for nobody. To be set before standing() is called.
  void messages(std::function<bool(MessageId message, bool receives)> isThrough) {
    isThrough_ = std::move(isThrough);
  }
  /// Another number means that devices of other processes get on.
  void elsewhere(std::function<uint64_t()> progress);

private:
  using Clock = std::chrono::steady_clock;
  using Duration = Clock::duration;

  static constexpr size_t kNone = SIZE_MAX;

  /// What a device's thread publishes about itself.
  struct alignas(64) Slot {
    std::atomic<const BoundEntry *> entry{nullptr};
    std::atomic<const BoundProgram *> program{nullptr};
    // In a part of an entry that all devices run:
    std::atomic<bool> works{false};      ///< the device has not finished the part
    std::atomic<size_t> segment{kNone};  ///< kNone before the first one
    std::atomic<size_t> waitsFor{kNone}; ///< a device
    std::atomic<size_t> message{0};      ///< that it waits for: twice its id, and 1 to receive it
    std::atomic<uint64_t> progress{0};   ///< segments and parts since the start
    // In consecutive launches:
    std::atomic<uint64_t> stretch{0};                    ///< odd while launches run
    std::atomic<size_t> launch{0};                       ///< the first of them
    std::atomic<const package::Launch *> alone{nullptr}; ///< of no entry: initial values
    std::atomic<uint64_t> before{0}; ///< number of launches that the device had begun before
  };

public:
  /// Scope in which consecutive launches of one program run on their device's thread.
  class Stretch {
  public:
    /// `launch`: index of the first one in the package's program.
    Stretch(Watchdog &watchdog, const BoundEntry &entry, const BoundProgram &program,
            size_t launch);
    /// A launch of no entry, that makes a parameter's initial values.
    Stretch(Watchdog &watchdog, size_t device, const package::Launch &alone);
    ~Stretch() { slot_.stretch.fetch_add(1); }
    Stretch(const Stretch &) = delete;
    Stretch &operator=(const Stretch &) = delete;

  private:
    Slot &slot_;
  };

  /// Scope in which a device, on its thread, waits for a message from or to another one.
  class Wait {
  public:
    Wait(Watchdog &watchdog, size_t device, size_t peer, MessageId message, bool receives)
        : slot_(watchdog.slots_[device]) {
      slot_.message.store(2 * message + receives);
      slot_.waitsFor.store(peer);
    }
    ~Wait() { slot_.waitsFor.store(kNone); }
    Wait(const Wait &) = delete;
    Wait &operator=(const Wait &) = delete;

  private:
    Slot &slot_;
  };

private:
  /// What the watchdog saw of a device at the last check.
  struct Seen {
    uint64_t stretch = 0, begun = 0; ///< together they identify one execution of a launch
    const package::Launch *launch = nullptr;
    const BoundEntry *entry = nullptr; ///< null for initial values
    size_t at = 0;                     ///< index in the package's program
    Duration elapsed{}, sinceInterrupt{}, sinceEnd{};
    bool named = false, ended = false, abandoned = false;
  };

  void watch();
  /// Whether no launch runs and no device has a part of an entry to finish.
  bool isIdle() const;
  /// Sleeps until something begins.
  void sleep(std::unique_lock<std::mutex> &lock);
  /// Called where something has begun, after it is published.
  void wake() {
    if (asleep_.load())
      wakeSleeper();
  }
  void wakeSleeper();
  void look(size_t device, Duration passed, bool interrupted);
  void begin(Seen &seen, size_t device, uint64_t stretch, uint64_t begun) const;
  void remember(const Seen &seen);
  void judge(Seen &seen, size_t device, Duration passed, bool interrupted);
  Duration deadlineOf(const package::Launch &launch) const;
  /// "launch 4 of step, fc (FullyConnected)", or "the initial values of fc_weight".
  std::string nameOf(const Seen &seen) const;
  Error late(const Seen &seen, size_t device, std::string_view consequence) const;

  /// Whether no device has made progress for longer than the deadline.
  void lookForStall(Duration passed);
  uint64_t progress() const;
  bool waits(const Slot &slot) const;
  /// The first waiting device whose peer does not wait itself; that peer is reported as the one
  /// that holds the others up.
  std::optional<std::pair<size_t, size_t>> stalled() const;
  Error stall(size_t waiting, size_t late) const;
  /// "cpu:1 was at launch 4 of step, fc (FullyConnected)"
  std::string whereabouts(size_t device) const;
  /// The same, and where that is in the source.
  std::string placeText(size_t device, const BoundEntry &entry, const BoundProgram &program,
                        const Segment &segment) const;

  const package::Package &package_;
  const Devices &devices_;
  const LaunchWatch watch_;
  const std::chrono::milliseconds deadline_;
  const Duration tick_;
  const std::function<void(const Error &)> end_;
  std::vector<Slot> slots_;
  std::vector<Seen> seen_;
  /// The last durations of long launches.
  std::map<const package::Launch *, std::vector<Duration>> usual_;
  std::function<uint64_t()> elsewhere_;
  std::function<bool(MessageId message, bool receives)> isThrough_;
  std::atomic<uint64_t> busy_{0}; ///< calls of standing() that found a launch
  uint64_t seenProgress_ = 0;
  Duration quiet_{}; ///< time without progress and without a running launch

  std::mutex mutex_;
  std::condition_variable changed_;
  bool leaving_ = false;
  std::atomic<bool> asleep_{false};
  std::thread thread_;
};

} // namespace lstmc::session
