// Laws of the recurrent kernels, with extents that need several blocks and passes: K above a pass
// of 128, more rows than a pass of 48, more units than a block of 64, batches that are divided by
// rows.
#include "backends/conformance/RecurrenceLaunch.h"
#include "tests/backends/cpu/Everywhere.h"

namespace lstmc::cpu::testing {
namespace {

using conformance::Array;
using conformance::RnnShape;
using conformance::TestLaunch;

constexpr RnnMode kModes[] = {RnnMode::Relu, RnnMode::Tanh, RnnMode::Lstm, RnnMode::Gru};

class Recurrence : public ::testing::TestWithParam<RnnMode> {};
INSTANTIATE_TEST_SUITE_P(Modes, Recurrence, ::testing::ValuesIn(kModes), [](const auto &info) {
  return std::string(kRnnModeNames[int(info.param)]);
});

void expectBoth(const RnnShape &shape) {
  SCOPED_TRACE(shape.text());
  expectEqualEverywhere(conformance::rnnForward(shape));
  if (shape.stash)
    expectEqualEverywhere(conformance::rnnBackward(shape, true));
}

TEST_P(Recurrence, GivesTheBitsOfTheReferenceAtLargeExtents) {
  expectBoth({.mode = GetParam(), .steps = 2, .batch = 20, .inputs = 150, .units = 200});
  expectBoth({.mode = GetParam(), .steps = 3, .batch = 53, .inputs = 20, .units = 24, .chunk = 2});
  expectBoth(
      {.mode = GetParam(), .steps = 2, .batch = 1, .inputs = 20, .units = 300, .reverse = true});
  expectBoth({.mode = GetParam(),
              .steps = 5,
              .batch = 50,
              .inputs = 9,
              .units = 70,
              .lengths = true,
              .chunk = 3});
}

TEST_P(Recurrence, GivesTheBitsOfTheReferenceAtEveryNumberOfUnitsRoundAPanel) {
  for (int64_t units : {1, 7, 8, 9, 31, 33, 48, 65})
    expectBoth({.mode = GetParam(), .steps = 2, .batch = 9, .inputs = 3, .units = units});
}

TEST_P(Recurrence, DoesNotDependOnTheChunk) {
  RnnShape shape{
      .mode = GetParam(), .steps = 7, .batch = 6, .inputs = 20, .units = 40, .lengths = true};
  TestLaunch expected = conformance::rnnForward(shape);
  runOn(expected, machineLevel(), 1);
  for (int64_t chunk : {1, 3, 7, 100}) {
    shape.chunk = chunk;
    TestLaunch launch = conformance::rnnForward(shape);
    runOn(launch, machineLevel(), 2);
    for (const char *name : {"y", "hN", "gates", "before"})
      EXPECT_EQ(launch[name].values(), expected[name].values()) << name << ", chunk " << chunk;
  }
}

TEST_P(Recurrence, TreatsARowAsIfItWereAlone) {
  const RnnShape shape{.mode = GetParam(), .steps = 4, .batch = 13, .inputs = 18, .units = 37};
  for (int level = 0; level <= int(machineLevel()); ++level) {
    TestLaunch whole = conformance::rnnForward(shape);
    runOn(whole, Level(level), 3);
    for (int64_t b : {0, 5, 12}) {
      TestLaunch row = conformance::rnnForward(shape);
      for (const char *name : {"x", "y", "gates", "cells", "before"})
        if (row[name].tensor)
          row[name] = row[name].slice(1, b, 1);
      for (const char *name : {"h0", "c0", "hN", "cN"})
        if (row[name].tensor)
          row[name] = row[name].slice(0, b, 1);
      runOn(row, Level(level), 2);
      EXPECT_EQ(row["y"].values(), whole["y"].slice(1, b, 1).values()) << kLevelNames[level];
      EXPECT_EQ(row["gates"].values(), whole["gates"].slice(1, b, 1).values());
      EXPECT_EQ(row["hN"].values(), whole["hN"].slice(0, b, 1).values());
    }
  }
}

TEST_P(Recurrence, MakesStepsOneCallAtATimeAsInOneCall) {
  RnnShape shape{.mode = GetParam(), .steps = 6, .batch = 3, .inputs = 20, .units = 50};
  TestLaunch whole = conformance::rnnForward(shape);
  runOn(whole, machineLevel(), 2);
  const bool lstm = GetParam() == RnnMode::Lstm;
  Array h = whole["h0"], c = whole["c0"];
  for (int64_t t = 0; t < shape.steps; ++t) {
    TestLaunch step = conformance::rnnForward(shape);
    for (const char *name : {"x", "y", "gates", "cells", "before"})
      if (step[name].tensor)
        step[name] = step[name].slice(0, t, 1);
    step["h0"] = h;
    if (lstm)
      step["c0"] = c;
    runOn(step, machineLevel(), 2);
    EXPECT_EQ(step["y"].values(), whole["y"].slice(0, t, 1).values()) << "step " << t;
    h = step["hN"];
    if (lstm)
      c = step["cN"];
  }
  EXPECT_EQ(h.values(), whole["hN"].values());
}

} // namespace
} // namespace lstmc::cpu::testing
