// Where a thread of a session waits for others.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>

#include <immintrin.h>
#include <sched.h>

namespace lstmc::session {

/// Waits for conditions over atomics: polls first, since what is waited for mostly comes soon and a
/// wake-up costs more than a small step, then sleeps. Allocates nothing.
class Parker {
public:
  using Clock = std::chrono::steady_clock;

  /// `crowded`: more threads than processors, so a thread that polls keeps another from its work.
  explicit Parker(bool crowded)
      : spins_(crowded ? 32 : 4000),
        pollFor_(crowded ? std::chrono::milliseconds(1) : std::chrono::milliseconds(50)) {}

  /// Returns what `ready()` says when it says true or the deadline has passed; without a deadline,
  /// true.
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

  /// To be called after every store, sequentially consistent, that a condition reads.
  void announce() {
    // Either the sleeper sees the store, or we see the sleeper.
    if (sleepers_.load() == 0)
      return;
    // Whoever has looked and not slept yet holds this.
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
  /// Before a thread sleeps: where each has a processor, longer than one stage of a wavefront works
  /// for another. A thread that is woken may be put where the one that woke it goes on working, and
  /// wait there.
  const std::chrono::milliseconds pollFor_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<int> sleepers_{0};
};

} // namespace lstmc::session
