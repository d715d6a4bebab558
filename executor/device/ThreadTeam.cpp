#include "executor/device/ThreadTeam.h"

#include <algorithm>
#include <chrono>
#include <utility>

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
// At a barrier, in polls of a pause each, some 25 ns:
constexpr int kLeastPolls = 32;  ///< before the first yield
constexpr int kMostPolls = 4000; ///< some 100 us
constexpr int kMeetings = 16;    ///< that the mean is over
constexpr int kTimesMean = 4;    ///< polls for this many times the mean
constexpr int kYields = 500;     ///< before a worker sleeps; a yield to nobody takes 0.3 us

/// Of all teams of the process: several devices have one each.
std::atomic<int> workers{0};

} // namespace

ThreadTeam::ThreadTeam(int count, Size size)
    : count_(std::max(1, count)), processors_(availableProcessors()), memory_(count_),
      members_(size_t(count_)), size_(count_, processors_), adapts_(size == Size::Best) {
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
  ++number_;
  for (size_t i = 1; i <= threads_.size(); ++i)
    call(members_[i]);
  for (std::thread &thread : threads_)
    thread.join();
  workers.fetch_sub(count_, std::memory_order_relaxed);
}

bool ThreadTeam::isCrowded() const { return workers.load(std::memory_order_relaxed) > processors_; }

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
  if (count_ == 1)
    return work(context, members_[0]);
  const auto begin = TeamSize::Clock::now();
  const int active = adapts_ ? size_.at(begin) : count_;
  for (int i = 0; i < active; ++i)
    members_[size_t(i)].count = active;
  if (active == 1)
    return work(context, members_[0]);
  work_ = work;
  context_ = context;
  active_ = active;
  ++number_;
  for (int i = 1; i < active; ++i)
    call(members_[size_t(i)]);
  work(context, members_[0]);
  meet(members_[0]);
  if (auto waiting = std::exchange(members_[0].waiting, {}); waiting.count() != 0 && adapts_)
    size_.waited(begin, TeamSize::Clock::now(), waiting);
}

void ThreadTeam::call(Member &member) {
  // Both sequentially consistent: either the worker sees the call, or we see that it sleeps.
  member.call.store(number_);
  if (member.asleep.load())
    member.call.notify_one();
}

void ThreadTeam::meet(Member &member) {
  const uint32_t phase = phase_.load(std::memory_order_relaxed);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == active_) {
    arrived_.store(0, std::memory_order_relaxed);
    // Both sequentially consistent: either a worker sees the new phase, or we see that it sleeps.
    phase_.store(phase + 1);
    if (parked_.load() != 0)
      phase_.notify_all();
    return;
  }
  const int usual = kTimesMean * (member.meeting / kMeetings);
  const int polls = isCrowded() ? kLeastPolls : std::clamp(usual, kLeastPolls, kMostPolls);
  for (int poll = 0; poll < polls; ++poll) {
    if (phase_.load(std::memory_order_acquire) != phase) {
      member.meeting += poll - member.meeting / kMeetings;
      return;
    }
    _mm_pause();
  }
  const auto begin = TeamSize::Clock::now();
  if (endsWhileYielding(phase)) // else a worker has no processor, which says nothing of meetings
    member.meeting += polls - member.meeting / kMeetings;
  member.waiting += TeamSize::Clock::now() - begin;
}

bool ThreadTeam::endsWhileYielding(uint32_t phase) {
  for (int yield = 0; yield < kYields; ++yield) {
    if (phase_.load(std::memory_order_acquire) != phase)
      return true;
    sched_yield();
  }
  parked_.fetch_add(1);
  phase_.wait(phase);
  parked_.fetch_sub(1);
  return false;
}

uint32_t ThreadTeam::awaitCall(Member &member, uint32_t seen) {
  auto until = std::chrono::steady_clock::now() + kSpinBetweenCalls;
  const int spins = isCrowded() ? kLeastPolls : kMostPolls;
  for (int spin = 1;; ++spin) {
    uint32_t call = member.call.load(std::memory_order_acquire);
    if (call != seen)
      return call;
    _mm_pause();
    if (spin % spins == 0)
      sched_yield();
    if (spin % 64 == 0 && std::chrono::steady_clock::now() >= until)
      break;
  }
  member.asleep.store(true);
  member.call.wait(seen);
  member.asleep.store(false);
  return member.call.load(std::memory_order_acquire);
}

void ThreadTeam::serve(Member &member) {
  FloatMode mode;
  WithStopFlag flag(stopped_);
  WithWorkerMemory memory(memory_, member.index);
  uint32_t seen = 0;
  while (true) {
    seen = awaitCall(member, seen);
    if (leaving_)
      return;
    work_(context_, member);
    meet(member);
  }
}

} // namespace lstmc
