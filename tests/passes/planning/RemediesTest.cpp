// Which changes are tried for a plan that does not fit, and which are reported, on invented plans.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "passes/planning/Remedies.h"

namespace lstmc::planning {
namespace {

using Kind = Change::Kind;
using ::testing::ElementsAre;

/// Changes by kind and count, as text: "batch 16".
std::string textOf(const Change &change) {
  static const char *const kNames[] = {"recompute", "accumulate", "replicas", "split", "batch"};
  return std::string(kNames[size_t(change.kind)]) + " " +
         std::to_string(change.kind == Kind::Recompute ? int64_t(change.layers.size())
                                                       : change.count);
}

/// Halved or doubled, a plan of 100 bytes and 10 s needs that many times less; none of more than 4
/// devices compiles.
std::optional<Outcome> planWith(const Change &change, uint64_t capacity) {
  double parts = 1;
  switch (change.kind) {
  case Kind::Recompute:
    parts = 1 + double(change.layers.size());
    break;
  case Kind::Accumulate:
    parts = double(change.count);
    break;
  case Kind::Replicas:
  case Kind::Split:
    parts = double(change.count);
    if (parts > 4)
      return std::nullopt;
    break;
  case Kind::Batch:
    parts = 32 / double(change.count);
    break;
  }
  const auto bytes = uint64_t(100 / parts);
  return Outcome{{bytes, bytes / 2}, 10 + parts, bytes <= capacity};
}

struct Tried {
  std::vector<std::string> all, found;
  Remedies remedies;
};

Tried tryAll(const Misfit &misfit, uint64_t capacity) {
  Tried tried;
  tried.remedies = remediesFor(misfit, [&](const Change &change) {
    tried.all.push_back(textOf(change));
    return planWith(change, capacity);
  });
  for (const Remedy &remedy : tried.remedies.found)
    tried.found.push_back(textOf(remedy.change));
  return tried;
}

Misfit misfit() { return {.seconds = 10, .layers = {{"a"}, {"a", "b", "c"}}, .batch = 32}; }

TEST(Remedies, OfEachKindTheLeastThatIsEnough) {
  Tried tried = tryAll(misfit(), 50);
  // 100 / 2 bytes suffice; a split over two is the same plan as two replicas, and is not reported.
  EXPECT_THAT(tried.all,
              ElementsAre("recompute 1", "accumulate 2", "replicas 2", "split 2", "batch 16"));
  EXPECT_THAT(tried.found, ElementsAre("recompute 1"));
  tried = tryAll(misfit(), 25);
  EXPECT_THAT(tried.all,
              ElementsAre("recompute 1", "recompute 3", "accumulate 2", "accumulate 4",
                          "replicas 2", "replicas 4", "split 2", "split 4", "batch 16", "batch 8"));
  EXPECT_THAT(tried.remedies.found[0].peaks, ElementsAre(25, 12));
  EXPECT_DOUBLE_EQ(tried.remedies.found[0].timeFraction, 14.0 / 10 - 1);
}

TEST(Remedies, StepsAreTriedBesideLayers) {
  Misfit steps = misfit();
  steps.steps = {"steps", "steps=8"};
  steps.batch.reset();
  Tried tried = tryAll(steps, 50);
  EXPECT_THAT(tried.all,
              ElementsAre("recompute 1", "recompute 1", "accumulate 2", "replicas 2", "split 2"));
  tried = tryAll(steps, 30);
  EXPECT_THAT(std::vector(tried.all.begin(), tried.all.begin() + 4),
              ElementsAre("recompute 1", "recompute 3", "recompute 1", "recompute 1"));
  EXPECT_THAT(tried.found, ElementsAre("recompute 3"));
}

TEST(Remedies, BeginsWithWhatIsInUse) {
  Misfit two = misfit();
  two.layers.clear();
  two.accumulate = 2;
  two.devices = 2;
  two.mostDevices = 4;
  two.batch.reset();
  EXPECT_THAT(tryAll(two, 1).all, ElementsAre("accumulate 4", "accumulate 8", "accumulate 16",
                                              "replicas 4", "split 4"));
}

TEST(Remedies, TheNearestIsToldWhereNothingFits) {
  Tried tried = tryAll(misfit(), 0);
  EXPECT_TRUE(tried.found.empty());
  // A batch of 1 is the last, and needs least: 100 / 32.
  ASSERT_TRUE(tried.remedies.nearest);
  EXPECT_EQ(textOf(tried.remedies.nearest->change), "batch 1");
  EXPECT_EQ(mostOf(tried.remedies.nearest->peaks), 3u);
}

} // namespace
} // namespace lstmc::planning
