#include "executor/device/ThreadTeam.h"

#include <chrono>
#include <numeric>
#include <thread>

#include <gtest/gtest.h>
#include <xmmintrin.h>

namespace lstmc {
namespace {

constexpr unsigned kFlush = 0x8040; // FTZ, DAZ

class Teams : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Counts, Teams, testing::Values(1, 2, 3, 5));

TEST_P(Teams, EveryWorkerEntersEveryCallOnce) {
  ThreadTeam team(GetParam());
  std::vector<int> entered(size_t{} + size_t(GetParam()));
  for (int call = 0; call < 300; ++call)
    team.run([&](Worker &worker) {
      EXPECT_EQ(worker.count, GetParam());
      ++entered[size_t(worker.index)];
    });
  EXPECT_EQ(entered, std::vector<int>(size_t(GetParam()), 300));
}

// Each worker writes its cell and then reads its neighbour's. If the barrier lets a worker through
// too early, it reads an old value.
TEST_P(Teams, BarrierOrdersWritesBeforeReads) {
  int n = GetParam();
  ThreadTeam team(n);
  std::vector<int> cells(size_t(n), -1);
  std::vector<int> wrong(static_cast<size_t>(n));
  team.run([&](Worker &worker) {
    for (int round = 0; round < 200; ++round) {
      cells[size_t(worker.index)] = round;
      worker.barrier();
      wrong[size_t(worker.index)] += cells[size_t((worker.index + 1) % n)] != round;
      worker.barrier();
    }
  });
  EXPECT_EQ(std::accumulate(wrong.begin(), wrong.end(), 0), 0);
}

TEST_P(Teams, SleepingWorkersWake) {
  ThreadTeam team(GetParam());
  std::vector<int> entered(size_t{} + size_t(GetParam()));
  for (int call = 0; call < 5; ++call) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5)); // longer than workers spin before
                                                               // they sleep
    team.run([&](Worker &worker) { ++entered[size_t(worker.index)]; });
  }
  EXPECT_EQ(entered, std::vector<int>(size_t(GetParam()), 5));
}

// Others wait for a worker that comes after they have gone to sleep at the barrier.
TEST_P(Teams, WorkersThatSleepAtABarrierWake) {
  const int n = GetParam();
  ThreadTeam team(n);
  std::vector<int> passed(static_cast<size_t>(n));
  for (int call = 0; call < 5; ++call)
    team.run([&](Worker &worker) {
      for (int late = 0; late < n; ++late) {
        if (worker.index == late)
          std::this_thread::sleep_for(std::chrono::milliseconds(3));
        worker.barrier();
        ++passed[size_t(worker.index)];
      }
    });
  EXPECT_EQ(passed, std::vector<int>(size_t(n), 5 * n));
}

TEST_P(Teams, DenormalsAreZeroInsideAndAsBeforeOutside) {
  unsigned before = _mm_getcsr();
  ThreadTeam team(GetParam());
  std::vector<unsigned> inside(size_t{} + size_t(GetParam()));
  team.run([&](Worker &worker) { inside[size_t(worker.index)] = _mm_getcsr(); });
  for (unsigned mode : inside)
    EXPECT_EQ(mode & kFlush, kFlush);
  EXPECT_EQ(_mm_getcsr() & kFlush, before & kFlush);
}

} // namespace
} // namespace lstmc
