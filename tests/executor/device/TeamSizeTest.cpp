// When a team has fewer workers than it could have.
#include "executor/device/TeamSize.h"

#include <gtest/gtest.h>

namespace lstmc {
namespace {

using namespace std::chrono_literals;
using Clock = TeamSize::Clock;

/// A team whose calls take as long as they are told to.
struct Team {
  explicit Team(int most, int processors = 64) : size(most, processors) {}
  /// A call, of whose time the caller waited a part.
  int call(Clock::duration takes, Clock::duration waits = {}) {
    const int workers = size.at(now);
    const Clock::time_point begin = now;
    now += takes;
    if (waits.count() != 0)
      size.waited(begin, now, waits);
    return workers;
  }
  TeamSize size;
  Clock::time_point now{1h};
};

TEST(TeamSize, AllWhileNothingIsLost) {
  Team team(4);
  for (int i = 0; i < 1000; ++i)
    EXPECT_EQ(team.call(1ms, i % 2 ? 300us : 0us), 4); // the others work longer than the caller
}

TEST(TeamSize, HalfAfterALossAndAllAfterAPause) {
  Team team(4);
  team.call(20ms, 18ms);
  EXPECT_EQ(team.call(10ms), 2);
  team.now += 300ms;
  EXPECT_EQ(team.call(10ms), 2); // the pause is 20 times 18 ms
  team.now += 100ms;
  EXPECT_EQ(team.call(10ms), 4);
}

TEST(TeamSize, OneIfTwoLoseToo) {
  Team team(2);
  team.call(20ms, 18ms);
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(team.call(1ms), 1);
}

TEST(TeamSize, ALossOnceInAWhileIsNone) {
  Team team(2);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(team.call(2ms, 1800us), 2);
    team.now += 1s;
  }
}

TEST(TeamSize, SmallLossesAddUp) {
  Team team(2);
  int calls = 0;
  while (team.call(1ms, 800us) == 2)
    ++calls;
  EXPECT_LT(calls, 5);
}

// Trials that fail, of calls that lose 20 ms each, cost little of an hour.
TEST(TeamSize, TrialsAreFew) {
  Team team(2);
  int trials = 0;
  for (const Clock::time_point end = team.now + 1h; team.now < end;)
    if (team.size.at(team.now) == 2) {
      team.call(20ms, 18ms);
      ++trials;
    } else {
      team.call(1300us);
    }
  EXPECT_LT(trials, 400);
  EXPECT_GT(trials, 100); // and a neighbour that has gone is noticed within seconds
}

TEST(TeamSize, WorkersWithoutAProcessorWaitForLess) {
  Team own(4), shared(4, 2);
  own.call(20ms, 8ms);
  shared.call(20ms, 8ms);
  EXPECT_EQ(own.call(1ms), 4);
  EXPECT_EQ(shared.call(1ms), 2);
}

} // namespace
} // namespace lstmc
