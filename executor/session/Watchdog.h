// Looks at devices while they work: a launch that does not end is named, and then ended; so is a
// run in which devices wait for one that does not get on.
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

namespace lstmc::session {

/// A thread that looks every tick at where each device is. Launches that take longer than two ticks
/// are remembered, so that what is usual is known where it matters, and no launch pays for it. Time
/// in which the watchdog itself could not look (the process was stopped) counts for nothing.
/// Package and devices outlive it.
class Watchdog {
public:
  /// `end` stops the run under way. It is called for a launch that is late, and when devices have
  /// waited for longer than the deadline: in all that time none came to another segment, and no
  /// launch was under way. Throws std::system_error where the thread cannot be had.
  Watchdog(const package::Package &package, const Devices &devices, LaunchWatch watch,
           std::chrono::milliseconds deadline, std::function<void(const Error &)> end);
  ~Watchdog() { leave(); }
  Watchdog(const Watchdog &) = delete;
  Watchdog &operator=(const Watchdog &) = delete;

  /// Looks no more, and tells nobody from then on.
  void leave();

  /// A part of the entry begins on all its devices.
  void expect(const BoundEntry &entry);
  // On the device's thread.
  /// It has come to this segment of its program.
  void at(size_t device, size_t segment);
  /// It has come to the end of its part.
  void done(size_t device);

private:
  using Clock = std::chrono::steady_clock;
  using Duration = Clock::duration;

  static constexpr size_t kNone = SIZE_MAX;

  /// What a device's thread says of itself.
  struct alignas(64) Slot {
    std::atomic<const BoundEntry *> entry{nullptr};
    std::atomic<const BoundProgram *> program{nullptr};
    // Of a part of an entry that all devices work on:
    std::atomic<bool> works{false};      ///< and has not come to its end
    std::atomic<size_t> segment{kNone};  ///< none: not begun
    std::atomic<size_t> waitsFor{kNone}; ///< a device
    std::atomic<uint64_t> progress{0};   ///< segments and parts, ever
    // Of a stretch of launches:
    std::atomic<uint64_t> stretch{0}; ///< odd while one is under way
    std::atomic<size_t> launch{0};    ///< the first of it
    std::atomic<uint64_t> before{0};  ///< launches that the device had begun before it
  };

public:
  /// Launches of one program under way on their device's thread, while it lives.
  class Stretch {
  public:
    /// `launch`: the first one's place in the package's program.
    Stretch(Watchdog &watchdog, const BoundEntry &entry, const BoundProgram &program,
            size_t launch);
    ~Stretch() { slot_.stretch.fetch_add(1); }
    Stretch(const Stretch &) = delete;
    Stretch &operator=(const Stretch &) = delete;

  private:
    Slot &slot_;
  };

  /// A device that waits for a message from or to another one, while it lives; on its thread.
  class Wait {
  public:
    Wait(Watchdog &watchdog, size_t device, size_t peer) : slot_(watchdog.slots_[device]) {
      slot_.waitsFor.store(peer);
    }
    ~Wait() { slot_.waitsFor.store(kNone); }
    Wait(const Wait &) = delete;
    Wait &operator=(const Wait &) = delete;

  private:
    Slot &slot_;
  };

private:
  /// What the watchdog saw of a device when it last looked.
  struct Seen {
    uint64_t stretch = 0, begun = 0; ///< together one launch as it is carried out once
    const package::Launch *launch = nullptr;
    const BoundEntry *entry = nullptr;
    size_t at = 0; ///< in the package's program
    Duration elapsed{}, sinceInterrupt{}, sinceEnd{};
    bool named = false, ended = false, abandoned = false;
  };

  void watch();
  void look(size_t device, Duration passed, bool interrupted);
  void begin(Seen &seen, size_t device, uint64_t stretch, uint64_t begun) const;
  void remember(const Seen &seen);
  void judge(Seen &seen, size_t device, Duration passed, bool interrupted);
  Duration deadlineOf(const package::Launch &launch) const;
  Error late(const Seen &seen, size_t device, std::string_view consequence) const;

  /// Whether the devices have stood still for longer than the deadline.
  void lookForStall(Duration passed);
  uint64_t progress() const;
  /// Who waits for whom: of those that wait the first one whose peer does not wait itself, and so
  /// is to blame.
  std::optional<std::pair<size_t, size_t>> stalled() const;
  Error stall(size_t waiting, size_t late) const;
  /// "cpu:1 was at launch 4 of step, fc (FullyConnected)"
  std::string whereabouts(size_t device) const;

  const package::Package &package_;
  const Devices &devices_;
  const LaunchWatch watch_;
  const std::chrono::milliseconds deadline_;
  const Duration tick_;
  const std::function<void(const Error &)> end_;
  std::vector<Slot> slots_;
  std::vector<Seen> seen_;
  std::map<const package::Launch *, std::vector<Duration>> usual_; ///< of long launches, the last
  uint64_t seenProgress_ = 0;
  Duration quiet_{}; ///< since the devices got on; while no launch was under way

  std::mutex mutex_;
  std::condition_variable changed_;
  bool leaving_ = false;
  std::thread thread_;
};

} // namespace lstmc::session
