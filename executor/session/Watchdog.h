// Looks at launches while they run: one that does not end is named, and then ended.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "executor/session/BoundEntry.h"
#include "executor/session/LaunchWatch.h"

namespace lstmc::session {

/// A thread that looks every tick at which launch each device is. Launches that take longer than
/// two ticks are remembered, so that what is usual is known where it matters, and no launch pays
/// for it. Time in which the watchdog itself could not look (the process was stopped) counts for no
/// launch. Package and devices outlive it.
class Watchdog {
public:
  /// `end` stops the run that a late launch is part of. Throws std::system_error where the thread
  /// cannot be had.
  Watchdog(const package::Package &package, const Devices &devices, LaunchWatch watch,
           std::function<void(const Error &)> end);
  ~Watchdog() { leave(); }
  Watchdog(const Watchdog &) = delete;
  Watchdog &operator=(const Watchdog &) = delete;

  /// Looks no more, and tells nobody from then on.
  void leave();

private:
  using Clock = std::chrono::steady_clock;
  using Duration = Clock::duration;

  /// What a device's thread says of itself.
  struct alignas(64) Slot {
    std::atomic<uint64_t> stretch{0}; ///< odd while one is under way
    std::atomic<const BoundEntry *> entry{nullptr};
    std::atomic<const BoundProgram *> program{nullptr};
    std::atomic<size_t> launch{0};   ///< the first of the stretch
    std::atomic<uint64_t> before{0}; ///< launches that the device had begun before it
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

  /// Whether a launch is under way on any device: then it is the watchdog that ends it.
  bool watches() const;

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

  const package::Package &package_;
  const Devices &devices_;
  const LaunchWatch watch_;
  const std::function<void(const Error &)> end_;
  std::vector<Slot> slots_;
  std::vector<Seen> seen_;
  std::map<const package::Launch *, std::vector<Duration>> usual_; ///< of long launches, the last

  std::mutex mutex_;
  std::condition_variable changed_;
  bool leaving_ = false;
  std::thread thread_;
};

} // namespace lstmc::session
