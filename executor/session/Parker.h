// Lets a thread of a session wait for others.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>

#include <immintrin.h>
#include <sched.h>

namespace lstmc::session {

/// Waits for conditions over atomics: first polls, because most waits are short and a wake-up takes
/// longer than a small step, then sleeps. Allocates nothing.
class Parker {
public:
  using Clock = std::chrono::steady_clock;

  /// How many threads there are for the processors.
  enum class Crowd : uint8_t {
    Fits,    ///< one each
    Crowded, ///< more, so polling keeps another thread of this process from working
    Others,  ///< more, and some are of other processes, which yielding does not let run
  };
  explicit Parker(Crowd crowd)
      : spins_(crowd == Crowd::Fits ? 4000 : 32),
        pollFor_(crowd == Crowd::Fits      ? std::chrono::milliseconds(50)
                 : crowd == Crowd::Crowded ? std::chrono::milliseconds(1)
                                           : std::chrono::milliseconds(0)) {}

  /// Waits until `ready()` is true or the deadline has passed and returns its last value; without a
  /// deadline that is true.
  template <typename Ready>
  bool await(Ready ready, std::optional<Clock::time_point> deadline = std::nullopt) {
    auto until = Clock::now() + pollFor_;
    for (int spin = 1; !ready(); ++spin) {
      _mm_pause();
      if (spin % spins_ == 0)
        sched_yield();
      if (spin % 64 == 0 && Clock::now() >= until)
        return sleep(ready, deadline);
    }
    return true;
  }

  /// The same for a thread that helps: `help()` does some of what it waits for and returns how long
  /// to sleep before the next time, or none where it is of no use.
  template <typename Ready, typename Help> void awaitHelping(Ready ready, Help help) {
    while (!ready()) {
      const std::optional<std::chrono::nanoseconds> pause = help();
      if (!pause)
        return void(await(ready));
      if (sleep(ready, Clock::now() + *pause))
        return;
    }
  }

  /// Must be called after each sequentially consistent store that a condition reads.
  void announce() {
    // Either the sleeping thread sees the store, or this one sees that it sleeps.
    if (sleepers_.load() == 0)
      return;
    // Held by a thread that has evaluated its condition and does not sleep yet.
    std::lock_guard lock(mutex_);
    changed_.notify_all();
  }

private:
  template <typename Ready> bool sleep(Ready ready, std::optional<Clock::time_point> deadline) {
    std::unique_lock lock(mutex_);
    sleepers_.fetch_add(1);
    bool answer = true;
    if (deadline)
      answer = changed_.wait_until(lock, *deadline, ready);
    else
      changed_.wait(lock, ready);
    sleepers_.fetch_sub(1);
    return answer;
  }

  const int spins_; ///< pauses before a polling thread yields
  /// Time before a thread sleeps. If each thread has a processor it is longer than a stage of a
  /// wavefront waits for another, because a woken thread may be scheduled on the processor of the
  /// thread that woke it and then wait for that one.
  const std::chrono::milliseconds pollFor_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<int> sleepers_{0};
};

} // namespace lstmc::session
