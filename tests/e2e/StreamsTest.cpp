// Launches on several streams, carried out in any order that events leave: the same bits.
#include <gtest/gtest.h>

#include "tests/e2e/Net.h"

namespace lstmc::e2e {
namespace {

constexpr int64_t kUpdates = 3;

class Streams : public ::testing::TestWithParam<size_t> {
protected:
  Model model = models()[GetParam()];

  package::PackageData compileFor(int devices, int64_t streams) {
    model.recipe.compile.devices.clear();
    for (int device = 0; device < devices; ++device)
      model.recipe.compile.devices.push_back("cpu:" + std::to_string(device));
    model.recipe.compile.streams = streams;
    return compileNet(model.recipe).package;
  }
};

INSTANTIATE_TEST_SUITE_P(Models, Streams, ::testing::Range(size_t(0), models().size()),
                         [](const auto &info) { return models()[info.param].name; });

TEST_P(Streams, TrainToTheSameBitsInAnyOrder) {
  const uint64_t want = train(*openSession(compileFor(1, 1), 1), model, 1, kUpdates);
  for (int devices : {1, 3}) {
    const package::PackageData data = compileFor(devices, 3);
    EXPECT_EQ(train(*openSession(data, 1), model, 1, kUpdates), want) << "in the list's order";
    for (uint64_t seed = 0; seed < 10; ++seed)
      EXPECT_EQ(train(*openShuffled(data, seed), model, 1, kUpdates), want)
          << devices << " devices, seed " << seed;
  }
}

/// Of a whole net none can be left out either: the check at load misses it.
TEST_P(Streams, EveryEventIsNeeded) {
  package::PackageData data = compileFor(2, 2);
  size_t events = 0;
  for (package::Entry &entry : data.entries)
    for (package::DeviceProgram &program : entry.programs)
      for (package::Launch &launch : program.launches)
        for (size_t left = 0; left < launch.waits.size(); ++left, ++events) {
          const std::vector<uint32_t> waits = launch.waits;
          launch.waits.erase(launch.waits.begin() + ptrdiff_t(left));
          auto package = package::Package::open(package::serialize(data));
          EXPECT_FALSE(package.ok()) << entry.name << ", " << events;
          launch.waits = waits;
        }
  EXPECT_GT(events, 8u);
}

} // namespace
} // namespace lstmc::e2e
