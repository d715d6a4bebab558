// Streams and graphs of emulated GPUs: an event or a message that is left out is found.
#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "executor/device/GraphSharer.h"
#include "executor/session/SplitStep.h"
#include "tests/e2e/EmulatedDevices.h"

namespace lstmc::e2e {
namespace {

/// All but one call of wait(). With `graphs`, what waits order is kept in graphs.
class ForgetsOneWait final : public PassesOn {
public:
  using PassesOn::PassesOn;

  static inline int64_t forgotten = -1, waits = 0; ///< which call; calls so far
  static inline bool graphs = false;

  bool keepsGraphs() const override { return graphs; }
  void wait(uint32_t stream, uint32_t event) override {
    if (waits++ != forgotten)
      PassesOn::wait(stream, event);
  }
};

class EmulatedStreams : public ::testing::TestWithParam<bool> {};

INSTANTIATE_TEST_SUITE_P(Ways, EmulatedStreams, ::testing::Bool(),
                         [](const auto &info) { return info.param ? "Graphs" : "Launches"; });

TEST_P(EmulatedStreams, FindEveryEventThatIsLeftOut) {
  ForgetsOneWait::graphs = GetParam();
  const Model model = models()[0];
  const package::PackageData data = compileFor(model, 1, 2);
  auto trainForgetting = [&](int64_t wait) {
    ForgetsOneWait::forgotten = wait;
    ForgetsOneWait::waits = 0;
    auto session = openEmulated(data, 3, [](std::unique_ptr<Device> device) {
      return std::unique_ptr<Device>(std::make_unique<ForgetsOneWait>(std::move(device)));
    });
    train(*session, model, 1, 1);
  };
  trainForgetting(-1);
  const int64_t waits = ForgetsOneWait::waits;
  EXPECT_GT(waits, 4);
  for (int64_t wait = 0; wait < waits; ++wait)
    try {
      trainForgetting(wait);
      ADD_FAILURE() << "nothing was found without wait " << wait << " of " << waits;
    } catch (const std::runtime_error &error) {
      EXPECT_NE(std::string(error.what()).find("no event orders the two"), std::string::npos)
          << error.what();
    }
}

/// In graphs that devices share: all but one call of waitFor().
class ForgetsOneMessage final : public PassesOn, public GraphSharer {
public:
  using PassesOn::PassesOn;

  static inline int64_t forgotten = -1, waits = 0; ///< which call; calls so far
  static inline std::set<size_t> graphs;           ///< that were run

  bool reaches(const Device &other) const override { return inner().reaches(innerOf(other)); }
  bool sharesGraphs(const Device &other) const override {
    return sharer().sharesGraphs(innerOf(other));
  }
  bool mayBeShared(const PreparedProgram &program) const override {
    return sharer().mayBeShared(program);
  }
  void runSharedGraph(std::span<const GraphShare> all, size_t number,
                      const std::function<void()> &give) override {
    std::vector<GraphShare> those(all.begin(), all.end());
    for (GraphShare &share : those)
      share.device = &innerOf(*share.device);
    graphs.insert(number);
    sharer().runSharedGraph(those, number, give);
  }
  void waitFor(uint32_t stream, const Device &other, uint32_t event) override {
    if (waits++ != forgotten)
      sharer().waitFor(stream, innerOf(other), event);
  }

private:
  static Device &innerOf(const Device &device) {
    return static_cast<const ForgetsOneMessage &>(device).inner();
  }
  GraphSharer &sharer() const { return dynamic_cast<GraphSharer &>(inner()); }
};

/// Each part of an entry is one graph of all devices, with their messages. One that is not waited
/// for is found, unless what it brings was there before, or came after another message too.
TEST(EmulatedGraphs, AreSharedByDevicesAndFindMessagesThatAreNotAwaited) {
  const Model model = models()[0];
  const package::PackageData data = compileFor(model, 3, 2, "emu:");
  auto trainForgetting = [&](int64_t wait, int64_t updates) {
    ForgetsOneMessage::forgotten = wait;
    ForgetsOneMessage::waits = 0;
    auto session = openEmulated(data, 1, [](std::unique_ptr<Device> device) {
      return std::unique_ptr<Device>(std::make_unique<ForgetsOneMessage>(std::move(device)));
    });
    ForgetsOneMessage::graphs.clear();
    return train(*session, model, 1, updates);
  };
  const uint64_t want = train(*openSession(compileFor(model, 1, 1), 1), model, 1, kUpdates);
  EXPECT_EQ(trainForgetting(-1, kUpdates), want);
  EXPECT_EQ(ForgetsOneMessage::graphs.size(), 3u); // of init, and of the parts of the update
  int64_t found = 0;
  constexpr int64_t kEvery = 5; // it takes long
  for (int64_t wait = 0, all = ForgetsOneMessage::waits; wait < all; wait += kEvery)
    try {
      trainForgetting(wait, 1);
    } catch (const std::runtime_error &error) {
      EXPECT_NE(std::string(error.what()).find("no event orders the two"), std::string::npos)
          << error.what();
      ++found;
    }
  EXPECT_GE(found, 3);
}

/// The entries of an update in halves (dist_async) are made of launches of `step`: the gradients,
/// and what no parameter's update needs.
TEST(EmulatedGraphs, AreSharedInTheHalvesOfASplitStep) {
  for (const char *optimizer : {"adam", "lamb"})
    for (const int64_t streams : {2, 8}) {
      SCOPED_TRACE(fmt::format("{}, {} streams", optimizer, streams));
      Model model = models()[0];
      model.recipe.compile.optimizer = {.name = optimizer};
      model.recipe.compile.kvStore = passes::KvStore::Device;
      model.recipe.compile.updateOnStore = false;
      const auto cpu =
          openSession(compileFor(model, 2, streams), 1); // values are those of equal plans
      ForgetsOneMessage::forgotten = -1;
      const auto gpus = openEmulated(
          compileFor(model, 2, streams, "emu:"), 1, [](std::unique_ptr<Device> device) {
            return std::unique_ptr<Device>(std::make_unique<ForgetsOneMessage>(std::move(device)));
          });
      std::vector<std::vector<std::byte>> values;
      for (Session *session : {cpu.get(), gpus.get()}) {
        const package::PackageData &data = session->package().data();
        for (const package::Binding &input :
             data.entries[*session->package().findEntry("step")].inputs)
          if (input.role == "scalar")
            session->setScalar(input.name, 0.5); // those of the optimizer's formula
        train(*session, model, 1, 1);
        auto step = session::SplitStep::create(*session);
        ASSERT_TRUE(step.ok()) << step.error().text();
        std::vector<std::byte> &all = values.emplace_back();
        for (int64_t update = 2; update <= 3; ++update) {
          feed(*session, "step", update, model.classes, model.recipe.steps);
          session->setScalar("update", update);
          ForgetsOneMessage::graphs.clear();
          const Status gradients = step->gradients();
          ASSERT_TRUE(gradients.ok()) << gradients.error().text();
          if (session == gpus.get())
            EXPECT_EQ(ForgetsOneMessage::graphs.size(), 1u);
          for (size_t key = 0; key < step->keys(); ++key) {
            std::vector<std::byte> bytes(step->valuesBytes(step->whole(key)));
            step->readValues(step->whole(key), bytes);
            all.insert(all.end(), bytes.begin(), bytes.end());
          }
          ASSERT_TRUE(step->rest().ok());
        }
      }
      EXPECT_EQ(values[1], values[0]);
    }
}

/// The launch with the norm of a weight, which is of an update (lamb) and needs nothing made in
/// `step`, moved before launch `to`, on another stream; its result is where nothing else is.
package::PackageData withNormMoved(package::PackageData data, size_t step, uint32_t norm,
                                   uint32_t to, uint32_t stream) {
  std::vector<package::Launch> &launches = data.entries[step].programs[0].launches;
  package::Launch moved = launches[norm];
  moved.stream = stream;
  launches.erase(launches.begin() + norm);
  launches.insert(launches.begin() + to, moved);
  for (package::Buffer &buffer : data.buffers)
    if (buffer.entry == int32_t(step))
      for (uint32_t *launch : {&buffer.from, &buffer.to})
        *launch += *launch >= to && *launch < norm ? 1 : 0;
  package::Buffer &result = data.buffers[moved.operands[NormSquaredOperand::y].buffer];
  result.from = to;
  result.offset = data.devices[0].arenaBytes;
  data.devices[0].arenaBytes += uint64_t(roundUp(int64_t(result.bytes), kAlignment));
  return data;
}

/// The second of two launches before the commit waits for such a norm, and the norm for the first.
/// The first half has no norm, and keeps their order.
TEST(EmulatedGraphs, KeepAnOrderThatGoesByWayOfALaunchThatIsLeftOut) {
  Model model = models()[0];
  model.recipe.compile.optimizer = {.name = "lamb"};
  const package::PackageData data = compileFor(model, 1, 3, "emu:");
  const auto step =
      size_t(std::ranges::find(data.entries, "step", &package::Entry::name) - data.entries.begin());
  const std::vector<package::Launch> &launches = data.entries[step].programs[0].launches;
  const auto norm = std::ranges::find_if(launches, [&](const package::Launch &launch) {
    return launch.kernel == KernelId::NormSquared && launch.event < 0 && launch.waits.empty() &&
           data.buffers[launch.operands[NormSquaredOperand::kFixed].buffer].kind ==
               package::Kind::Parameter;
  });
  ASSERT_NE(norm, launches.end());
  int32_t events = 0;
  for (const package::Launch &launch : launches)
    events = std::max(events, launch.event + 1);
  int tried = 0;
  for (uint32_t second = 0; second < 12; ++second)
    for (size_t k = 0; k < launches[second].waits.size(); ++k) {
      const uint32_t event = launches[second].waits[k];
      const auto first = std::ranges::find(launches, int32_t(event), &package::Launch::event);
      const uint32_t other = 3 - first->stream - launches[second].stream;
      package::PackageData changed =
          withNormMoved(data, step, uint32_t(norm - launches.begin()), second, other);
      std::vector<package::Launch> &own = changed.entries[step].programs[0].launches;
      own[second].waits = {event};
      own[second].event = events;
      own[second + 1].waits[k] = uint32_t(events);
      const auto session = openEmulated(changed, 1);
      for (const package::Binding &input : data.entries[step].inputs)
        if (input.role == "scalar")
          session->setScalar(input.name, 0.5);
      auto halves = session::SplitStep::create(*session);
      ASSERT_TRUE(halves.ok()) << halves.error().text();
      feed(*session, "step", 1, model.classes, model.recipe.steps);
      EXPECT_TRUE(halves->gradients().ok());
      ++tried;
    }
  EXPECT_GT(tried, 0);
}

/// It waits for the graph of that part all the same, and is done with it when the run is.
TEST(EmulatedGraphs, AreSharedByADeviceWithNothingToDoInAPart) {
  Model model{.name = "placed", .recipe = {.file = "tests/e2e/nets/placed.lnet"}, .classes = 3};
  model.recipe.compile.optimizer = {.name = "adam"};
  const uint64_t want = train(*openSession(compileFor(model, 1, 1), 1), model, 1, kUpdates);
  for (const bool turned : {false, true}) {
    model.recipe.compile.place = {{"low", turned ? "emu:0" : "emu:1"},
                                  {"top", turned ? "emu:1" : "emu:0"}};
    const package::PackageData data = compileFor(model, 2, 2, "emu:");
    const auto &programs = std::ranges::find(data.entries, "step", &package::Entry::name)->programs;
    EXPECT_TRUE(std::ranges::any_of(programs, [](const package::DeviceProgram &program) {
      return program.commit == program.launches.size();
    }));
    EXPECT_EQ(train(*openEmulated(data, 1), model, 1, kUpdates), want) << turned;
  }
}

} // namespace
} // namespace lstmc::e2e
