// Graphs of a GPU: made once, launched in every run with what is in memory then, in an order that
// only their edges fix; and what a capture may not have is an error.
#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "backends/cuda/emulated/EmulatedCards.h"
#include "backends/cuda/emulated/EmulatedDriver.h"
#include "backends/cuda/runtime/GpuDevice.h"
#include "backends/cuda/runtime/Staging.h"
#include "executor/device/GraphSharer.h"

namespace lstmc::cuda {
namespace {

constexpr CardNumber kCard = 41; // no other test has it

int kernelsGiven = 0, graphsLaunched = 0, waitsOfHost = 0;

/// The emulated driver, counting.
const Driver &countingDriver() {
  static const Driver driver = [] {
    Driver counting = emulatedDriver();
    counting.launch = [](const LaunchConfig *config, DriverFunction function, void **parameters,
                         void **extra) {
      ++kernelsGiven;
      return emulatedDriver().launch(config, function, parameters, extra);
    };
    counting.synchronize = [](DriverStream stream) {
      ++waitsOfHost;
      return emulatedDriver().synchronize(stream);
    };
    counting.launchGraph = [](DriverExecutable executable, DriverStream stream) {
      ++graphsLaunched;
      return emulatedDriver().launchGraph(executable, stream);
    };
    return counting;
  }();
  return driver;
}

class Graphs : public ::testing::Test {
protected:
  Graphs() {
    kernelsGiven = graphsLaunched = 0;
    open();
  }
  void open() {
    auto none = [](KernelId, std::span<const Tensor>) -> KernelFunction { return nullptr; };
    auto made = makeGpuDevice("emu:41", countingDriver(),
                              {.card = kCard, .images = emulatedImages(), .onHost = none});
    device = std::move(*made);
    EXPECT_TRUE(device->allocate(64).ok());
    EXPECT_TRUE(device->reserve(3, 4).ok());
  }

  /// Copies of single bytes.
  std::unique_ptr<PreparedProgram> copies(std::vector<std::pair<int, int>> places) {
    std::vector<LaunchSpec> specs;
    for (auto [from, to] : places) {
      Tensor x, y;
      x.data = device->arena() + from;
      y.data = device->arena() + to;
      x.dtype = y.dtype = DType::U8;
      specs.push_back({KernelId::Copy, {x, y}, {}, {}});
    }
    return std::move(*device->prepare(std::move(specs)));
  }
  void set(uint64_t place, uint8_t value) { device->copyIn(place, {(std::byte *)&value, 1}); }
  int get(uint64_t place) {
    std::byte value{};
    device->copyOut(place, {&value, 1});
    return int(value);
  }

  std::unique_ptr<Device> device;
};

TEST_F(Graphs, AreMadeOnceAndReadWhatIsThereInEachRun) {
  auto program = copies({{0, 1}, {1, 2}, {1, 3}, {2, 4}});
  auto give = [&] {
    device->launch(0, *program, 0, 1);
    device->record(0, 0);
    device->wait(1, 0);
    device->launch(1, *program, 1, 2);
    device->record(1, 1);
    device->launch(0, *program, 2, 3);
    device->wait(0, 1);
    device->launch(0, *program, 3, 4);
  };
  for (uint8_t value : {7, 11, 13}) {
    set(0, value);
    device->runGraph(*program, 0, give);
    device->finish();
    EXPECT_EQ(get(3), value);
    EXPECT_EQ(get(4), value);
  }
  EXPECT_EQ(kernelsGiven, 4);
  EXPECT_EQ(graphsLaunched, 3);
  EXPECT_EQ(device->launchesBegun(), 12u);
}

/// What the host copies in is on its way when copyIn() returns, from memory of its own; launches on
/// every stream come after it, in a graph or not. A missing order would end the run with an error.
TEST_F(Graphs, ComeAfterWhatIsCopiedIn) {
  auto program = copies({{0, 1}, {0, 2}});
  set(0, 1);
  EXPECT_EQ(emulatedPinnedBytes(), Staging::kBytes);
  device->runGraph(*program, 0, [&] { device->launch(0, *program, 0, 1); });
  device->finish();
  for (uint32_t stream : {0, 1, 2})
    for (bool graph : {false, true}) {
      const auto value = uint8_t(10 + 2 * stream + graph);
      waitsOfHost = 0;
      set(0, uint8_t(value + 100));
      set(0, value);
      if (graph)
        device->runGraph(*program, 0, [] {});
      else
        device->launch(stream, *program, 1, 2);
      EXPECT_EQ(waitsOfHost, 0);
      device->finish();
      EXPECT_EQ(get(graph ? 1 : 2), value);
    }
  program.reset();
  device.reset();
  EXPECT_EQ(emulatedPinnedBytes(), 0u);
}

TEST_F(Graphs, CopiesInOfEverySizeAreThere) {
  ASSERT_TRUE(device->allocate(4 * Staging::kBytes).ok());
  const size_t sizes[] = {
      1, 1000, Staging::kBytes / 2, Staging::kBytes, Staging::kBytes + 1, 77, Staging::kBytes - 78};
  std::vector<std::byte> all;
  for (size_t size : sizes) {
    std::vector<std::byte> bytes(size, std::byte(1 + all.size() % 251));
    device->copyIn(all.size(), bytes);
    all.insert(all.end(), bytes.begin(), bytes.end());
    std::ranges::fill(bytes, std::byte(0));
  }
  std::vector<std::byte> found(all.size());
  device->copyOut(0, found);
  EXPECT_EQ(found, all);
}

/// With other launches around it, on each of the streams, and no event between.
TEST_F(Graphs, ComeAfterWhatWasGivenBeforeAndBeforeWhatIsGivenLater) {
  auto program = copies({{0, 1}, {1, 2}, {2, 3}});
  for (uint32_t before : {0, 1, 2})
    for (uint32_t inside : {0, 1, 2})
      for (uint32_t after : {0, 1, 2}) {
        const auto value = uint8_t(1 + before + 3 * inside + 9 * after);
        set(0, value);
        device->launch(before, *program, 0, 1);
        device->record(before, 0);
        device->runGraph(*program, inside, [&] {
          device->wait(inside, 0); // of outside: nothing is left to wait for
          device->launch(inside, *program, 1, 2);
          device->record(inside, 1);
        });
        device->wait(after, 1);
        device->launch(after, *program, 2, 3);
        device->synchronize(after);
        EXPECT_EQ(get(3), value);
      }
}

TEST_F(Graphs, AnEdgeThatIsMissingIsFound) {
  auto program = copies({{0, 1}, {1, 2}});
  try {
    device->runGraph(*program, 0, [&] {
      device->launch(0, *program, 0, 1);
      device->launch(1, *program, 1, 2);
    });
    device->finish();
    FAIL() << "nothing was found";
  } catch (const std::runtime_error &error) {
    EXPECT_NE(std::string(error.what()).find("no event orders the two"), std::string::npos)
        << error.what();
  }
}

/// The error of a run whose two launches use memory that is not there, on two streams.
std::string errorOf(Device &device, PreparedProgram &program) {
  try {
    device.runGraph(program, 0, [&] {
      device.launch(1, program, 0, 1);
      device.launch(2, program, 1, 2);
    });
    device.finish();
  } catch (const std::runtime_error &error) {
    return error.what();
  }
  return "nothing was found";
}

TEST_F(Graphs, AFindingIsRepeatedByItsSeedWhichItNames) {
  std::set<std::string> all;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    std::string first;
    for (int time : {0, 1}) {
      device.reset();
      open();
      auto program = copies({{0, 1024}, {2048, 1}});
      seedEmulatedDriver(seed);
      const std::string error = errorOf(*device, *program);
      EXPECT_TRUE(error.ends_with(" (LSTMC_EMU_SEED=" + std::to_string(seed) + ")")) << error;
      EXPECT_EQ(time == 0 ? first = error : first, error);
    }
    all.insert(first.substr(0, first.find(" (LSTMC_EMU_SEED")));
  }
  EXPECT_EQ(all.size(), 2u); // of either launch
}

/// A run that is stopped while its graph is made still makes the whole graph.
TEST_F(Graphs, AreWholeAfterARunThatWasStopped) {
  auto program = copies({{0, 1}});
  auto give = [&] { device->launch(0, *program, 0, 1); };
  set(0, 5);
  device->stop(true);
  device->runGraph(*program, 0, give);
  device->finish();
  EXPECT_EQ(get(1), 0);
  device->stop(false);
  device->runGraph(*program, 0, give);
  device->finish();
  EXPECT_EQ(get(1), 5);
}

/// Two cards, with one graph where the driver takes it, and in the order of the same events where
/// it does not; which is told once.
class SharedGraphs : public ::testing::TestWithParam<bool> {
protected:
  static inline bool refuses = false;

  static const Driver &driver() {
    static const Driver driver = [] {
      Driver table = countingDriver();
      table.instantiate = [](DriverExecutable *executable, DriverGraph graph,
                             unsigned long long flags) {
        return refuses ? emulated::kInvalidValue + 0
                       : emulatedDriver().instantiate(executable, graph, flags);
      };
      return table;
    }();
    return driver;
  }
  static std::unique_ptr<Device> makeDevice(CardNumber card) {
    auto none = [](KernelId, std::span<const Tensor>) -> KernelFunction { return nullptr; };
    auto device =
        std::move(*makeGpuDevice("emu:" + std::to_string(card), driver(),
                                 {.card = card, .images = emulatedImages(), .onHost = none}));
    EXPECT_TRUE(device->allocate(64).ok());
    EXPECT_TRUE(device->reserve(2, 2).ok());
    return device;
  }
  /// Of a byte of any device.
  static std::unique_ptr<PreparedProgram> copyOf(Device &device, std::byte *from, std::byte *to) {
    Tensor x, y;
    x.data = from;
    y.data = to;
    x.dtype = y.dtype = DType::U8;
    return std::move(*device.prepare({{KernelId::Copy, {x, y}, {}, {}}}));
  }
};
INSTANTIATE_TEST_SUITE_P(Drivers, SharedGraphs, ::testing::Bool(),
                         [](const auto &info) { return info.param ? "Refuse" : "Take"; });

TEST_P(SharedGraphs, OrderWhatOneDeviceReadsOfAnother) {
  refuses = GetParam();
  kernelsGiven = graphsLaunched = 0;
  const std::unique_ptr<Device> first = makeDevice(kCard), second = makeDevice(kCard + 1);
  auto &leader = dynamic_cast<GraphSharer &>(*first), &other = dynamic_cast<GraphSharer &>(*second);
  ASSERT_TRUE(leader.sharesGraphs(*second));
  const auto make = copyOf(*first, first->arena(), first->arena() + 1),
             take = copyOf(*second, first->arena() + 1, second->arena());
  const GraphShare all[] = {{first.get(), make.get()}, {second.get(), take.get()}};
  auto give = [&] {
    first->launch(1, *make, 0, 1);
    first->record(1, 0);
    other.waitFor(0, *first, 0);
    second->launch(0, *take, 0, 1);
  };
  for (uint8_t value : {3, 5, 8}) {
    first->copyIn(0, {(std::byte *)&value, 1});
    leader.runSharedGraph(all, 0, give);
    first->finish();
    second->finish();
    std::byte found{};
    second->copyOut(0, {&found, 1});
    EXPECT_EQ(int(found), value);
  }
  EXPECT_EQ(graphsLaunched, refuses ? 0 : 3);
  EXPECT_EQ(kernelsGiven, refuses ? 2 * 4 : 2);
  EXPECT_EQ(first->choices().size(), refuses ? 1u : 0u);
  refuses = false;
}

TEST_F(Graphs, WhatFailsWhileOneIsMadeLeavesNone) {
  auto program = copies({{0, 1}});
  EXPECT_THROW(device->runGraph(*program, 0,
                                [] { throw std::runtime_error("this does not come to an end"); }),
               std::runtime_error);
  set(0, 9);
  device->runGraph(*program, 0, [&] { device->launch(0, *program, 0, 1); });
  device->finish();
  EXPECT_EQ(get(1), 9);
}

// ---- the emulated driver's captures ----

class Captures : public ::testing::Test {
protected:
  Captures() {
    driver.retainContext(&context, kCard);
    driver.setContext(context);
    for (DriverStream &stream : streams)
      driver.createStream(&stream, kStreamNonBlocking);
    for (DriverEvent &event : events)
      driver.createEvent(&event, kEventWithoutTiming);
  }
  ~Captures() override {
    for (DriverStream stream : streams)
      driver.destroyStream(stream);
    driver.releaseContext(kCard);
  }
  std::string end(DriverGraph *graph = nullptr) {
    DriverGraph made = nullptr;
    const DriverResult result = driver.endCapture(streams[0], &made);
    if (graph)
      *graph = made;
    return name(result);
  }
  static std::string name(DriverResult result) {
    const char *text = "done";
    if (result)
      emulatedDriver().errorName(result, &text);
    return text;
  }
  /// Writes down that it was carried out.
  void note(DriverStream stream, int number) {
    static int numbers[] = {0, 1, 2, 3};
    static std::vector<int> *list = nullptr;
    list = &carriedOut;
    driver.callHost(
        stream, [](void *it) { list->push_back(*static_cast<int *>(it)); }, &numbers[number]);
  }

  const Driver &driver = emulatedDriver();
  DriverContext context = nullptr;
  DriverStream streams[3] = {};
  DriverEvent events[3] = {};
  std::vector<int> carriedOut;
};

/// 0, then 1 and 2 in any order, then 3.
TEST_F(Captures, TheOrderIsDrawnFromTheSeedAndKeepsTheEdges) {
  driver.beginCapture(streams[0], kCaptureOfThread);
  note(streams[0], 0);
  driver.record(events[0], streams[0]);
  driver.wait(streams[1], events[0], 0);
  note(streams[1], 2);
  note(streams[0], 1);
  driver.record(events[1], streams[1]);
  driver.wait(streams[0], events[1], 0);
  note(streams[0], 3);
  DriverGraph graph = nullptr;
  ASSERT_EQ(end(&graph), "done");
  EXPECT_TRUE(carriedOut.empty());
  DriverExecutable executable = nullptr;
  driver.instantiate(&executable, graph, 0);
  driver.destroyGraph(graph);
  std::set<std::vector<int>> orders;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    seedEmulatedDriver(seed);
    carriedOut.clear();
    driver.launchGraph(executable, streams[2]);
    driver.synchronize(streams[2]);
    orders.insert(carriedOut);
  }
  EXPECT_EQ(orders, (std::set<std::vector<int>>{{0, 1, 2, 3}, {0, 2, 1, 3}}));
  driver.destroyExecutable(executable);
}

/// How often the host asks whether another process is ready is no matter of the seed.
TEST_F(Captures, TheOrderIsTheSameHoweverOftenAStreamIsLookedAt) {
  std::set<std::vector<int>> orders;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    std::vector<int> first;
    for (int times : {0, 1, 7}) {
      seedEmulatedDriver(seed);
      carriedOut.clear();
      bool ready = false;
      emulated::give(emulated::streamOf(streams[0]),
                     {"a message",
                      {},
                      [](uint64_t) -> std::optional<std::string> { return std::nullopt; },
                      [&] { return ready; }});
      for (int number = 0; number < 4; ++number) {
        note(streams[1 + number % 2], number);
        for (int i = 0; i < times; ++i)
          EXPECT_EQ(driver.query(streams[0]), kNotReady);
      }
      driver.synchronize(streams[1]);
      driver.synchronize(streams[2]);
      ready = true;
      EXPECT_EQ(driver.query(streams[0]), 0);
      EXPECT_EQ(times == 0 ? first = carriedOut : first, carriedOut);
    }
    orders.insert(first);
  }
  EXPECT_GT(orders.size(), 3u);
}

/// Asking is enough for all that needs no other process.
TEST_F(Captures, AStreamThatIsLookedAtIsCarriedOut) {
  note(streams[1], 0);
  driver.record(events[0], streams[1]);
  driver.wait(streams[0], events[0], 0);
  note(streams[0], 1);
  EXPECT_EQ(driver.query(streams[0]), 0);
  EXPECT_EQ(carriedOut, (std::vector<int>{0, 1}));
}

TEST_F(Captures, AStreamThatIsNotJoinedIsAnError) {
  driver.beginCapture(streams[0], kCaptureOfThread);
  driver.record(events[0], streams[0]);
  driver.wait(streams[1], events[0], 0);
  EXPECT_EQ(end(), "CUDA_ERROR_STREAM_CAPTURE_UNJOINED");
}

TEST_F(Captures, WaitingForWhatIsNotCapturedIsAnError) {
  driver.record(events[0], streams[1]);
  driver.beginCapture(streams[0], kCaptureOfThread);
  EXPECT_EQ(name(driver.wait(streams[0], events[0], 0)), "CUDA_ERROR_STREAM_CAPTURE_ISOLATION");
  EXPECT_EQ(end(), "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED");
}

TEST_F(Captures, WaitingForAnEventOfACaptureThatHasEndedIsAnError) {
  driver.beginCapture(streams[0], kCaptureOfThread);
  driver.record(events[0], streams[0]);
  DriverGraph graph = nullptr;
  EXPECT_EQ(end(&graph), "done");
  EXPECT_EQ(name(driver.wait(streams[1], events[0], 0)), "CUDA_ERROR_CAPTURED_EVENT");
  driver.destroyGraph(graph);
  EXPECT_EQ(name(driver.wait(streams[1], events[0], 0)), "CUDA_ERROR_CAPTURED_EVENT");
}

TEST_F(Captures, TheHostDoesNotWaitForACapture) {
  driver.beginCapture(streams[0], kCaptureOfThread);
  EXPECT_EQ(name(driver.synchronize(streams[0])), "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED");
  EXPECT_EQ(end(), "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED");
}

} // namespace
} // namespace lstmc::cuda
