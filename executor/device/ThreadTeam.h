// Threads that live as long as a device and enter its calls together.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "executor/device/Kernel.h"
#include "executor/device/TeamMemory.h"
#include "executor/device/TeamSize.h"

namespace lstmc {

/// `count` workers. The thread that calls run() is worker 0; the others spin between calls for a
/// bounded time and then sleep, so that a stream of short calls never pays for a wake-up. At a
/// barrier a worker polls for a few times what its last meetings took, then yields its processor,
/// then sleeps: a worker that has lost its processor to another process is not waited for by
/// polling, which would keep it from a processor all the longer. With one worker there is no thread
/// and no synchronisation. One call at a time.
class ThreadTeam {
public:
  /// What every worker carries out.
  using Work = void (*)(void *context, Worker &);

  /// Whether all workers take part in every call, or as many as TeamSize finds best.
  enum class Size { All, Best };

  /// Throws std::system_error where a thread cannot be had, std::bad_alloc where there is no memory
  /// for the workers; threads that were started have ended by then.
  explicit ThreadTeam(int count, Size size = Size::All);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam &) = delete;
  ThreadTeam &operator=(const ThreadTeam &) = delete;

  int count() const { return count_; }

  /// Calls work(context, worker) on the workers, with denormals as 0, and returns when all have
  /// returned. Worker::count is how many take part. Allocates nothing.
  void run(Work work, void *context);

  /// With true, stopAsked() holds on all workers (StopFlag.h), until it is called with false.
  void stop(bool stopped) { stopped_.store(stopped, std::memory_order_relaxed); }

  /// As above, for a callable.
  template <typename F> void run(F &&work) {
    run([](void *context, Worker &worker) { (*static_cast<F *>(context))(worker); }, &work);
  }

private:
  class Member final : public Worker {
  public:
    void barrier() override {
      if (count > 1)
        team->meet(*this);
    }
    ThreadTeam *team = nullptr;
    int meeting = 0; ///< the mean number of polls of the last meetings, times kMeetings
    TeamSize::Duration waiting{}; ///< of worker 0: time in this call after its polls
    // One cache line for each: its worker polls it.
    alignas(64) std::atomic<uint32_t> call{0}; ///< the last call that the worker takes part in
    std::atomic<bool> asleep{false};
  };

  void leave();
  void meet(Member &member);
  /// Waits for the end of the meeting, which the polls have not seen; false where it slept.
  bool endsWhileYielding(uint32_t phase);
  void serve(Member &member);
  /// Lets a worker take part in the current call.
  void call(Member &member);
  /// Returns the number of the worker's next call once it differs from `seen`.
  uint32_t awaitCall(Member &member, uint32_t seen);

  /// Whether the process has more workers than processors.
  bool isCrowded() const;

  const int count_;
  const int processors_;
  const TeamMemory memory_;
  std::vector<Member> members_;
  std::vector<std::thread> threads_;

  TeamSize size_;
  const bool adapts_;
  // The current call sets these, and the workers that take part in it read them:
  Work work_ = nullptr;
  void *context_ = nullptr;
  int active_ = 0; ///< how many take part
  uint32_t number_ = 0;
  bool leaving_ = false;

  std::atomic<bool> stopped_{false};

  // One cache line each: all workers poll them.
  alignas(64) std::atomic<int> arrived_{0};
  alignas(64) std::atomic<uint32_t> phase_{0};
  alignas(64) std::atomic<int> parked_{0}; ///< workers that sleep at a barrier
};

} // namespace lstmc
