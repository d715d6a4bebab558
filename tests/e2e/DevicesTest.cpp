// One hash of trained weights and of what is measured, on any number of devices.
#include <gtest/gtest.h>

#include "executor/base/Hash.h"
#include "tests/e2e/Net.h"

namespace lstmc::e2e {
namespace {

constexpr int64_t kUpdates = 6;

class Devices : public ::testing::TestWithParam<size_t> {
protected:
  Model model = models()[GetParam()];

  package::PackageData compileFor(int devices) {
    model.recipe.compile.devices.clear();
    for (int device = 0; device < devices; ++device)
      model.recipe.compile.devices.push_back("cpu:" + std::to_string(device));
    return compileNet(model.recipe).package;
  }
};

INSTANTIATE_TEST_SUITE_P(Models, Devices, ::testing::Range(size_t(0), models().size()),
                         [](const auto &info) { return models()[info.param].name; });

TEST_P(Devices, TrainToTheSameBits) {
  auto one = openSession(compileFor(1), 1);
  const uint64_t want = train(*one, model, 1, kUpdates);
  for (int devices = 2; devices <= 8; ++devices) {
    package::PackageData data = compileFor(devices);
    ASSERT_EQ(data.devices.size(), size_t(devices));
    auto several = openSession(data, devices == 2 ? 2 : 1);
    EXPECT_EQ(train(*several, model, 1, kUpdates), want) << devices << " devices";
    for (const package::State &state : data.states)
      EXPECT_EQ(hashBytes(several->state(state.name)->data, size_t(several->state(state.name)->elements()) * 4),
                hashBytes(one->state(state.name)->data, size_t(one->state(state.name)->elements()) * 4))
          << state.name << " on " << devices << " devices";
    for (const DevicePeak &peak : several->peaks())
      EXPECT_EQ(peak.measuredBytes, peak.plannedBytes) << peak.device;
  }
}

TEST_P(Devices, ShareTheWorkAsAsked) {
  const uint64_t want = train(*openSession(compileFor(1), 1), model, 1, kUpdates);
  for (std::vector<int64_t> loads : {std::vector<int64_t>{3, 1}, {1, 7}, {2, 1, 1}, {5, 2, 9, 1}}) {
    model.recipe.compile.workLoads = loads;
    EXPECT_EQ(train(*openSession(compileFor(int(loads.size())), 1), model, 1, kUpdates), want) << loads.front();
  }
}

/// Who adds and who updates; parts one after the other; all at once.
TEST_P(Devices, KeepParametersInEveryWay) {
  const uint64_t want = train(*openSession(compileFor(1), 1), model, 1, kUpdates);
  for (bool onStore : {true, false})
    for (passes::KvStore store : {passes::KvStore::Local, passes::KvStore::Device})
      for (auto [devices, accumulate] : {std::pair(1, 2), {1, 3}, {2, 1}, {2, 4}, {3, 2}, {5, 1}}) {
        passes::CompileOptions &options = model.recipe.compile;
        options.kvStore = store;
        options.updateOnStore = onStore;
        options.accumulate = accumulate;
        auto session = openSession(compileFor(devices), 1);
        EXPECT_EQ(train(*session, model, 1, kUpdates), want)
            << devices << " devices x " << accumulate << " parts, store " << int(store) << ", update there " << onStore;
        for (const package::Parameter &parameter : session->package().data().parameters)
          EXPECT_EQ(parameter.buffers.size(), size_t(devices)) << parameter.name;
      }
}

/// Layers on devices of their own, chunks of steps, replicas of such, parts one after the other: all at once.
TEST_P(Devices, ShareTheLayers) {
  const uint64_t want = train(*openSession(compileFor(1), 1), model, 1, kUpdates);
  struct Case {
    int devices, stages, chunks, accumulate;
  };
  for (Case c : {Case{2, 2, 1, 1}, {2, 2, 2, 1}, {2, 2, 3, 1}, {2, 2, 0, 1}, {3, 3, 2, 1}, {4, 2, 2, 1}, {6, 2, 3, 2}, {2, 2, 5, 3}}) {
    passes::CompileOptions &options = model.recipe.compile;
    options.stages = c.stages;
    options.chunks = c.chunks;
    options.accumulate = c.accumulate;
    auto session = openSession(compileFor(c.devices), 1);
    EXPECT_EQ(train(*session, model, 1, kUpdates), want)
        << c.devices << " devices, " << c.stages << " stages, " << c.chunks << " chunks, " << c.accumulate << " parts";
    for (const DevicePeak &peak : session->peaks())
      EXPECT_EQ(peak.measuredBytes, peak.plannedBytes) << peak.device;
  }
}

TEST_P(Devices, AnswerAndMeasureToTheSameBits) {
  auto one = openSession(compileFor(1), 1);
  for (int devices : {2, 3, 5}) {
    auto several = openSession(compileFor(devices), 1);
    for (const char *entry : {"forward", "evaluate"}) {
      for (Session *session : {one.get(), several.get()}) {
        session->resetStates();
        feed(*session, entry, 1, model.classes, model.recipe.steps);
        Status done = session->run(entry);
        ASSERT_TRUE(done.ok()) << done.error().text();
      }
      const package::PackageData &data = one->package().data();
      for (const package::Binding &output : data.entries[*one->package().findEntry(entry)].outputs) {
        Tensor a = *one->output(entry, output.name), b = *several->output(entry, output.name);
        ASSERT_EQ(a.elements(), b.elements()) << output.name;
        size_t bytes = size_t(a.elements()) * dtypeBytes(a.dtype);
        EXPECT_EQ(hashBytes(a.data, bytes), hashBytes(b.data, bytes)) << output.name << " of " << entry << " on " << devices;
      }
    }
  }
}

} // namespace
} // namespace lstmc::e2e
