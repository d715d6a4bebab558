#include "executor/device/ThreadTeam.h"

#include <algorithm>
#include <chrono>

#include <immintrin.h>
#include <sched.h>

#include "executor/base/FloatMode.h"
#include "executor/base/Processors.h"
#include "executor/device/StopFlag.h"

namespace lstmc {

namespace {

/// How long a worker polls for the next call before it sleeps: longer than the gap between the
/// calls of a stream, shorter than anybody notices as load.
constexpr std::chrono::microseconds kSpinBetweenCalls{1000};
constexpr int kSpins = 4000; ///< pauses at a barrier before the first yield, some 100 us
constexpr int kSpinsCrowded = 32;

/// Of all teams of the process: several devices have one each.
std::atomic<int> workers{0};

} // namespace

ThreadTeam::ThreadTeam(int count)
    : count_(std::max(1, count)), processors_(availableProcessors()), memory_(count_),
      members_(size_t(count_)) {
  workers.fetch_add(count_, std::memory_order_relaxed);
  for (int i = 0; i < count_; ++i) {
    members_[size_t(i)].index = i;
    members_[size_t(i)].count = count_;
    members_[size_t(i)].team = this;
  }
  try {
    for (int i = 1; i < count_; ++i)
      threads_.emplace_back([this, i] { serve(members_[size_t(i)]); });
  } catch (...) {
    leave();
    throw;
  }
}

ThreadTeam::~ThreadTeam() { leave(); }

void ThreadTeam::leave() {
  leaving_ = true;
  call_.fetch_add(1);
  call_.notify_all();
  for (std::thread &thread : threads_)
    thread.join();
  workers.fetch_sub(count_, std::memory_order_relaxed);
}

int ThreadTeam::spins() const {
  return workers.load(std::memory_order_relaxed) > processors_ ? kSpinsCrowded : kSpins;
}

namespace {

/// The team's flag is that of the thread, for as long as it works for the team.
class WithStopFlag {
public:
  explicit WithStopFlag(const std::atomic<bool> &flag) : before_(stopFlag) { stopFlag = &flag; }
  ~WithStopFlag() { stopFlag = before_; }

private:
  const std::atomic<bool> *before_;
};

} // namespace

void ThreadTeam::run(Work work, void *context) {
  FloatMode mode;
  WithStopFlag flag(stopped_);
  WithWorkerMemory memory(memory_);
  if (count_ == 1) {
    work(context, members_[0]);
    return;
  }
  work_ = work;
  context_ = context;
  // Both sequentially consistent: either the worker sees the call, or we see that it sleeps.
  call_.fetch_add(1);
  if (sleepers_.load() != 0)
    call_.notify_all();
  work(context, members_[0]);
  meet();
}

void ThreadTeam::meet() {
  uint32_t phase = phase_.load(std::memory_order_relaxed);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == count_) {
    arrived_.store(0, std::memory_order_relaxed);
    phase_.store(phase + 1, std::memory_order_release);
    return;
  }
  const int spins = this->spins();
  for (int spin = 0; phase_.load(std::memory_order_acquire) == phase; ++spin) {
    if (spin < spins)
      _mm_pause();
    else
      sched_yield();
  }
}

uint32_t ThreadTeam::awaitCall(uint32_t seen) {
  auto until = std::chrono::steady_clock::now() + kSpinBetweenCalls;
  const int spins = this->spins();
  for (int spin = 1;; ++spin) {
    uint32_t call = call_.load(std::memory_order_acquire);
    if (call != seen)
      return call;
    _mm_pause();
    if (spin % spins == 0)
      sched_yield();
    if (spin % 64 == 0 && std::chrono::steady_clock::now() >= until)
      break;
  }
  sleepers_.fetch_add(1);
  call_.wait(seen);
  sleepers_.fetch_sub(1);
  return call_.load(std::memory_order_acquire);
}

void ThreadTeam::serve(Member &member) {
  FloatMode mode;
  WithStopFlag flag(stopped_);
  WithWorkerMemory memory(memory_, member.index);
  uint32_t seen = 0;
  while (true) {
    seen = awaitCall(seen);
    if (leaving_)
      return;
    work_(context_, member);
    meet();
  }
}

} // namespace lstmc
