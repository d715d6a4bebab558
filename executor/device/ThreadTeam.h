// Threads that live as long as a device and enter its calls together.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "executor/device/Kernel.h"
#include "executor/device/TeamMemory.h"

namespace lstmc {

/// `count` workers. The thread that calls run() is worker 0; the others spin between calls for a
/// bounded time and then sleep, so that a stream of short calls never pays for a wake-up. With one
/// worker there is no thread and no synchronisation. One call at a time.
class ThreadTeam {
public:
  /// What every worker carries out.
  using Work = void (*)(void *context, Worker &);

  /// Throws std::system_error where a thread cannot be had, std::bad_alloc where there is no memory
  /// for the workers; threads that were started have ended by then.
  explicit ThreadTeam(int count);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam &) = delete;
  ThreadTeam &operator=(const ThreadTeam &) = delete;

  int count() const { return count_; }

  /// Calls work(context, worker) on every worker, with denormals as 0, and returns when all have
  /// returned. Allocates nothing.
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
        team->meet();
    }
    ThreadTeam *team = nullptr;
  };

  void leave();
  void meet();
  void serve(Member &member);
  /// Returns the next call's number once it differs from `seen`.
  uint32_t awaitCall(uint32_t seen);

  /// Pauses before a waiting thread yields: few while the process has more workers than processors.
  int spins() const;

  const int count_;
  const int processors_;
  const TeamMemory memory_;
  std::vector<Member> members_;
  std::vector<std::thread> threads_;

  Work work_ = nullptr;
  void *context_ = nullptr;
  bool leaving_ = false;

  std::atomic<bool> stopped_{false};

  // One cache line each: all workers poll them.
  alignas(64) std::atomic<uint32_t> call_{0};
  alignas(64) std::atomic<int> sleepers_{0};
  alignas(64) std::atomic<int> arrived_{0};
  alignas(64) std::atomic<uint32_t> phase_{0};
};

} // namespace lstmc
