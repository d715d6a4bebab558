// Several devices at the same time: the same bits in any order of their work, and one error when
// one of them fails.
#include <atomic>
#include <chrono>
#include <cmath>
#include <fstream>
#include <map>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "executor/base/Philox.h"
#include "executor/package/MessageMemory.h"
#include "tests/executor/base/OwnMemory.h"
#include "tests/executor/session/Allocations.h"
#include "tests/executor/session/DeviceSession.h"

namespace lstmc {
namespace {

using package::Package;
using package::PackageData;
using package::transferPackage;
using namespace std::chrono_literals;
using namespace test;
namespace transfers = package::transfers;

/// The package's step in plain loops.
struct Expected {
  std::vector<float> w;
  double norm = 0;

  void step(const std::vector<float> &x, int64_t devices, float rate) {
    using namespace transfers;
    norm = 0;
    for (int64_t r = 0; r < kRows; ++r)
      for (int64_t c = 0; c < kColumns; ++c) {
        float &element = w[size_t(r * kColumns + c)], total = 0;
        for (int64_t d = 0; d < devices; ++d) {
          float product = x[size_t(c * kRows * devices + kRows * d + r)] * element;
          total = d == 0 ? product : total + product;
        }
        norm += double(total) * double(total);
        float change = rate * total;
        element = element - change;
      }
  }
};

/// Threads of this process. The system may count a joined thread for a moment.
int threadCount() {
  std::ifstream file("/proc/self/status");
  for (std::string word; file >> word;)
    if (word == "Threads:") {
      int count = 0;
      file >> count;
      return count;
    }
  return 0;
}

bool threadsComeTo(int wanted) {
  auto until = std::chrono::steady_clock::now() + 60s;
  while (threadCount() != wanted)
    if (std::chrono::steady_clock::now() > until)
      return false;
  return true;
}

class Counts : public testing::TestWithParam<uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Devices, Counts, testing::Values(1, 2, 3, 8));

TEST_P(Counts, StepIsWhatTheProgramsSay) {
  for (int threads : {1, 2}) {
    auto session = makeSession(GetParam(), {}, threads);
    ASSERT_TRUE(session->initialise(3).ok());
    Expected expected{values(*session->parameter("w"))};
    for (int update = 1; update <= 3; ++update) {
      fillInput(*session, update);
      expected.step(values(*session->input("step", "x")), GetParam(), 0.125f);
      ASSERT_TRUE(session->run("step").ok());
      EXPECT_EQ(values(*session->parameter("w")), expected.w) << threads << " threads";
      EXPECT_NEAR(session->output("step", "gradient_norm")->as<double>()[0], expected.norm,
                  1e-12 * expected.norm);
      // After the commit every device has the new weights.
      const PackageData &data = session->package().data();
      for (uint32_t index : data.parameters[0].buffers) {
        const package::Buffer &buffer = data.buffers[index];
        Tensor copy = *session->parameter("w");
        copy.data = session->device(buffer.device).arena() + buffer.offset;
        EXPECT_EQ(values(copy), expected.w) << "device " << buffer.device;
      }
    }
  }
}

TEST_P(Counts, InTurnAndWatchedTheyGiveTheSameBits) {
  uint64_t hash = trainedHash(*makeSession(GetParam()));
  SessionOptions oneThread, careful;
  oneThread.oneThread = true;
  careful.checkNan = true;
  EXPECT_EQ(trainedHash(*makeSession(GetParam(), oneThread)), hash);
  EXPECT_EQ(trainedHash(*makeSession(GetParam(), careful)), hash);
  SessionObserver observer;
  auto watched = makeSession(GetParam());
  watched->setObserver(&observer);
  EXPECT_EQ(trainedHash(*watched), hash);
}

TEST_P(Counts, NothingIsAllocatedInARun) {
  auto session = makeSession(GetParam());
  trainedHash(*session);
  size_t before = test::allocations();
  for (int i = 0; i < 10; ++i)
    ASSERT_TRUE(session->run("step").ok());
  EXPECT_EQ(test::allocations(), before);
}

#if !defined(__SANITIZE_THREAD__) // whose own memory grows
TEST_P(Counts, MemoryIsFlatOverManyUpdates) {
  const int updates = GetParam() > 3 ? 1'000 : 10'000; // many threads on few processors are slow
  auto session = makeSession(GetParam());
  trainedHash(*session, 100);
  session->setScalar("learning_rate", 0.0); // otherwise the weights would overflow
  int64_t before = test::ownBytes();
  for (int i = 0; i < updates; ++i)
    ASSERT_TRUE(session->run("step").ok());
  EXPECT_LE(test::ownBytes(), before + 64 * 1024);
}
#endif

TEST(Devices, InitialValuesAreMadeWhereTheParameterLives) {
  auto one = makeSession(1), three = makeSession(3);
  ASSERT_TRUE(one->initialise(5).ok());
  ASSERT_TRUE(three->initialise(5).ok());
  EXPECT_EQ(values(*three->parameter("v")), values(*one->parameter("v")));
  EXPECT_EQ(three->weightHashes(), one->weightHashes());
  EXPECT_NE(values(*three->parameter("v")), std::vector<float>(4, 0));
}

TEST(Devices, AnyDelaysGiveTheSameBits) {
  uint64_t hash = trainedHash(*makeSession(3), 2);
  for (uint64_t schedule = 0; schedule < 200; ++schedule) {
    auto delay = [schedule](const DeviceMoment &moment) {
      PhiloxBlock random = randomBlock(schedule, moment.launch, uint32_t(moment.device), 0);
      if (random[0] % 4 == 0)
        std::this_thread::sleep_for(std::chrono::microseconds(random[1] % 200));
    };
    ASSERT_EQ(trainedHash(*makeSession(3, withHook(delay)), 2), hash) << schedule;
  }
}

class Log : public SessionObserver {
public:
  void after(const LaunchView &view) override {
    text += std::string(view.device.substr(4)) + ":" +
            std::string(kernelRecord(view.launch.kernel).name) + " ";
  }
  std::string text;
};

TEST(Devices, WatchedEverySendComesBeforeItsReceive) {
  auto session = makeSession(3);
  Log log;
  session->setObserver(&log);
  fillInput(*session, 1);
  ASSERT_TRUE(session->run("step").ok());
  EXPECT_EQ(log.text, "0:send 1:receive 0:send 1:receive 0:send 2:receive 0:send 2:receive "
                      "1:fused 1:send 0:fused 0:receive 2:fused 2:send 0:fused 0:receive "
                      "0:fused 0:norm_squared 1:fill 2:fill "
                      "0:fused 0:send 1:receive 0:send 2:receive ");
}

/// Times of the last run, per device.
struct Times : SessionTimer {
  void ran(const Package &, const package::Entry &of,
           std::span<const std::span<const LaunchInterval>> times) override {
    entry = &of;
    programs.clear();
    for (std::span<const LaunchInterval> program : times)
      programs.emplace_back(program.begin(), program.end());
  }
  const package::Entry *entry = nullptr;
  std::vector<std::vector<LaunchInterval>> programs;
};

TEST_P(Counts, TimesAreThoseOfDevicesSideBySide) {
  uint64_t hash = trainedHash(*makeSession(GetParam()));
  for (bool oneThread : {false, true}) {
    SessionOptions options;
    options.oneThread = oneThread;
    auto session = makeSession(GetParam(), options);
    Times times;
    session->setTimer(&times);
    EXPECT_EQ(trainedHash(*session), hash);
    ASSERT_EQ(times.entry->name, "step");
    ASSERT_EQ(times.programs.size(), GetParam());
    std::map<int64_t, LaunchInterval::Clock::time_point> sent;
    for (bool sends : {true, false})
      for (size_t p = 0; p < times.programs.size(); ++p)
        for (size_t i = 0; i < times.programs[p].size(); ++i) {
          const LaunchInterval &time = times.programs[p][i];
          ASSERT_NE(time.begin, LaunchInterval::Clock::time_point()) << p << ", " << i;
          EXPECT_LE(time.begin, time.end);
          if (i > 0) {
            EXPECT_LE(times.programs[p][i - 1].end, time.begin) << p << ", " << i;
          }
          const package::Launch &launch = times.entry->programs[p].launches[i];
          if (sends && launch.kernel == KernelId::Send)
            sent[argumentsOf<SendArguments>(launch).message] = time.begin;
          if (!sends && launch.kernel == KernelId::Receive) {
            const int64_t message = argumentsOf<ReceiveArguments>(launch).message;
            EXPECT_LE(sent.at(message), time.begin) << "message " << message;
          }
        }
  }
}

TEST(Devices, WhatDidNotRunHasNoTime) {
  auto hook = [](const DeviceMoment &moment) {
    if (moment.device == 1 && moment.entry == "step" && moment.launch > 0)
      throw std::runtime_error("gone");
  };
  auto session = makeSession(2, withHook(hook));
  Times times;
  session->setTimer(&times);
  fillInput(*session, 1);
  ASSERT_FALSE(session->run("step").ok());
  ASSERT_EQ(times.programs.size(), 2u);
  EXPECT_EQ(times.programs[1].back().end, LaunchInterval::Clock::time_point());
  EXPECT_NE(times.programs[0].front().end, LaunchInterval::Clock::time_point());
  session->setTimer(nullptr);
  times.programs.clear();
  EXPECT_FALSE(session->run("step").ok());
  EXPECT_TRUE(times.programs.empty());
}

TEST(Devices, PeaksAreThePlannedOnes) {
  auto session = makeSession(3);
  trainedHash(*session);
  std::vector<DevicePeak> peaks = session->peaks();
  ASSERT_EQ(peaks.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(peaks[i].device, "cpu:" + std::to_string(i));
    EXPECT_EQ(peaks[i].plannedBytes, session->package().data().devices[i].arenaBytes);
    EXPECT_EQ(peaks[i].touchedBytes, peaks[i].plannedBytes);
  }
}

/// Where devices do not reach one another, the host copies: what that takes is planned.
TEST(Devices, HoldForCopiesOfTheHostWhatIsPlanned) {
  for (const auto &[names, some] :
       {std::pair("cpu:0,emu:0,cpu:1,emu:1", true), std::pair("emu:0,cpu:0,emu:1,cpu:1", true),
        std::pair("trap:0,emu:0,trap:1,cpu:0", true), std::pair("emu:0,emu:1,emu:2", false)}) {
    auto session = makeSessionOn(names);
    trainedHash(*session);
    const package::PackageData &data = session->package().data();
    package::MessageWays ways{package::processesOf(data.devices.size(), 1)};
    for (size_t i = 0; i < data.devices.size(); ++i)
      ways.names.push_back(session->device(i).name());
    uint64_t sum = 0;
    const std::vector<DevicePeak> peaks = session->peaks();
    for (uint32_t i = 0; i < peaks.size(); ++i) {
      const bool own = session->device(i).hostVisible(); // else there may be tables in it
      const uint64_t planned =
          (own ? peaks[i].plannedBytes - data.devices[i].arenaBytes : 0) + peaks[i].plannedOfHost;
      EXPECT_EQ(peaks[i].touchedBytes - session->device(i).touchedBytes() + peaks[i].heldOfHost,
                planned)
          << names << ", " << peaks[i].device;
      EXPECT_EQ(planned, package::messageBytes(data, i, ways));
      EXPECT_EQ(peaks[i].plannedOfHost > 0 && session->device(i).hostVisible(), false);
      sum += planned;
    }
    EXPECT_EQ(sum > 0, some) << names;
  }
}

TEST(Devices, ThreadsEndWithTheSession) {
  int before = threadCount();
  for (int i = 0; i < 3; ++i) {
    auto session = makeSession(3, {}, 2);
    EXPECT_TRUE(threadsComeTo(before + 2 + 3 + 1)) << threadCount(); // and the watchdog
    trainedHash(*session, 1);
    session.reset();
    EXPECT_TRUE(threadsComeTo(before)) << threadCount();
  }
  SessionOptions oneThread;
  oneThread.oneThread = true;
  auto session = makeSession(3, oneThread);
  EXPECT_TRUE(threadsComeTo(before + 1)) << threadCount();
}

// ---- what is not finite ----

TEST(Devices, NonFiniteValueOfAnyDeviceStopsAllAndIsNamed) {
  for (bool checkNan : {false, true})
    for (int64_t device : {0, 1, 2}) {
      SessionOptions options;
      options.checkNan = checkNan;
      auto session = makeSession(3, options);
      overflowOn(*session, device);
      uint64_t before = session->weightsHash();
      Status status = session->run("step");
      ASSERT_FALSE(status.ok());
      EXPECT_EQ(status.error().text(), "net.lnet:2:5: error[E0701]: first infinity at update 7: "
                                       "scale (elemwise_mul), output[1, 0]");
      EXPECT_EQ(session->weightsHash(), before);
      EXPECT_FALSE(session->faultAfterCommit());
      ASSERT_EQ(session->fault()->reasons.size(), 1u);
      std::string name = "cpu:" + std::to_string(device);
      EXPECT_EQ(session->fault()->reasons[0].text.substr(0, 5), name);
      // All devices can continue.
      fillInput(*session, 8);
      ASSERT_TRUE(session->initialise(1).ok());
      EXPECT_TRUE(session->run("step").ok());
    }
}

TEST(Devices, OfSeveralThatGoWrongInTheSameOpTheFirstIsNamed) {
  for (bool checkNan : {false, true})
    for (int64_t other : {1, 2}) {
      SessionOptions options;
      options.checkNan = checkNan;
      auto session = makeSession(3, options);
      overflowOn(*session, 0);
      Tensor x = *session->input("step", "x");
      for (int64_t c = 0; c < x.shape[0]; ++c)
        x.as<float>()[c * x.shape[1] + transfers::kRows * other] = 1e30f;
      uint64_t before = session->weightsHash();
      ASSERT_FALSE(session->run("step").ok());
      EXPECT_EQ(session->fault()->reasons[0].text.substr(0, 5), "cpu:0");
      EXPECT_EQ(session->fault()->message,
                "first infinity at update 7: scale (elemwise_mul), output[1, 0]");
      EXPECT_EQ(session->weightsHash(), before);
    }
}

// ---- devices that fail ----

/// A session with a device that fails once, at a given launch.
struct Trouble {
  Trouble(uint32_t devices, uint32_t device, size_t launch,
          std::function<void(const DeviceMoment &)> what,
          std::chrono::milliseconds deadline = 60s) {
    SessionOptions options;
    options.deadline = deadline;
    options.hook = [=, this](const DeviceMoment &moment) {
      if (moment.entry == "step" && moment.device == device && moment.launch == launch &&
          armed.exchange(false))
        what(moment);
    };
    session = makeSession(devices, options);
    EXPECT_TRUE(session->initialise(3).ok());
    fillInput(*session, 1);
  }
  std::atomic<bool> armed{true};
  std::unique_ptr<Session> session;
};

void hang(const DeviceMoment &moment) {
  while (!moment.stopped.load())
    std::this_thread::sleep_for(1ms);
}

/// A deadline that other devices do not miss because a busy machine runs something else.
constexpr std::chrono::milliseconds kLate = 500ms;

TEST(Devices, ExceptionStopsAllAndIsTheAnswer) {
  for (uint32_t device : {0, 1, 2}) {
    size_t launch = device == 0 ? transfers::firstProduct(3) : transfers::kProduct;
    Trouble trouble(3, device, launch, [](auto &) { throw std::runtime_error("no luck"); });
    Status status = trouble.session->run("step");
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().text(),
              fmt::format("net.lnet:2:5: error[E0803]: cpu:{} failed at launch {} of step, scale "
                          "(elemwise_mul): no luck",
                          device, launch));
    EXPECT_EQ(errorRecord(status.error().code).exit, ExitCode::Job);
    // All devices have returned, and the next run is not affected.
    EXPECT_EQ(trainedHash(*trouble.session), trainedHash(*makeSession(3)));
  }
}

TEST(Devices, LackOfMemoryOnADeviceIsOne) {
  Trouble trouble(2, 1, transfers::kSendProduct, [](auto &) { throw std::bad_alloc(); });
  EXPECT_EQ(trouble.session->run("step").error().text(),
            "net.lnet:1:1: error[E0901]: cpu:1 failed at send of message 101 of step, move: out of "
            "memory");
}

TEST(Devices, ExceptionAfterCommitMayLeaveItHalfDone) {
  size_t sendNewW = transferPackage(2).entries[0].programs[0].launches.size() - 1;
  Trouble trouble(2, 0, sendNewW, [](auto &) { throw 1; });
  uint64_t before = trouble.session->weightsHash();
  EXPECT_EQ(trouble.session->run("step").error().text(),
            "net.lnet:1:1: error[E0803]: cpu:0 failed at send of message 201 of step, move: "
            "unknown exception");
  EXPECT_NE(trouble.session->weightsHash(), before);
}

TEST(Devices, WaitForADeviceThatHangsHasADeadline) {
  struct Case {
    uint32_t device;
    size_t launch;
    std::string message;
  };
  const Case kCases[] = {
      // The first device waits to receive from a device that exists, and from one that does not.
      {1, transfers::kReceiveW,
       "net.lnet:1:1: error[E0802]: cpu:0 waited 0.5 s at receive of message 101 of step, move "
       "for cpu:1; cpu:1 was at receive of message 3 of step, move"},
      {1, transfers::kProduct,
       "net.lnet:1:1: error[E0802]: cpu:0 waited 0.5 s at receive of message 101 of step, move "
       "for cpu:1; cpu:1 was at launch 2 of step, scale (elemwise_mul)"},
      // The other one waits until the first has received what it wants to overwrite.
      {0, transfers::firstProduct(2),
       "net.lnet:2:5: error[E0802]: cpu:1 waited 0.5 s at launch 4 of step, scale "
       "(elemwise_mul), which writes over message 101 for cpu:0; cpu:0 was at launch 2 of step, "
       "scale (elemwise_mul)"},
  };
  int threads = threadCount();
  for (const Case &c : kCases) {
    Trouble trouble(2, c.device, c.launch, hang, kLate);
    Status status = trouble.session->run("step");
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().text(), c.message);
    EXPECT_EQ(errorRecord(status.error().code).exit, ExitCode::Job);
    trouble.session.reset();
    EXPECT_TRUE(threadsComeTo(threads)) << threadCount();
  }
}

/// The package of two devices, with an extra launch that hangs at the end of one device's program.
std::string hangAtTheEndOf(uint32_t device) {
  PackageData data = transferPackage(2);
  package::DeviceProgram &program = data.entries[0].programs[device];
  size_t last = program.launches.size();
  package::Launch again = program.launches[last - 1];
  again.kernel = KernelId::Fill;
  setArguments(again, FillArguments{.value = 1});
  again.location = transfers::kUpdate;
  program.launches.push_back(again);
  for (package::Buffer &buffer : data.buffers)
    if (buffer.device == device && buffer.entry == 0)
      ++buffer.to;
  auto package = Package::open(package::serialize(data));
  EXPECT_TRUE(package.ok()) << package.error().text();
  SessionOptions options;
  options.deadline = kLate;
  options.hook = [=](const DeviceMoment &moment) {
    if (moment.entry == "step" && moment.device == device && moment.launch == last)
      hang(moment);
  };
  auto session = Session::create(*package, std::move(*makeDevices("2xcpu", {1})), options);
  EXPECT_TRUE(session.ok());
  fillInput(**session, 1);
  return (*session)->run("step").error().text();
}

TEST(Devices, WaitForTheEndHasADeadline) {
  // No device receives from them any more, but the run does not end without them.
  EXPECT_EQ(hangAtTheEndOf(1),
            "net.lnet:4:1: error[E0802]: cpu:0 waited 0.5 s for cpu:1 to end step; cpu:1 was at "
            "launch 6 of step, update (sgd_update)");
  // Its new weights are sent, so they overwrite a copy.
  EXPECT_EQ(hangAtTheEndOf(0),
            "net.lnet:4:1: error[E0802]: cpu:1 waited 0.5 s for cpu:0 to end step; cpu:0 was at "
            "launch 8 of step, update (sgd_update)");
}

TEST(Devices, TheOneThatHangsIsNamedNotWhoWaitsForIt) {
  // The last hangs, the first waits for it, and all others have finished.
  for (int i = 0; i < 3; ++i) {
    Trouble trouble(5, 4, transfers::kProduct, hang, kLate);
    EXPECT_EQ(trouble.session->run("step").error().text(),
              "net.lnet:1:1: error[E0802]: cpu:0 waited 0.5 s at receive of message 104 of step, "
              "move for cpu:4; cpu:4 was at launch 2 of step, scale (elemwise_mul)");
  }
}

TEST(Devices, SlowOnesThatGetOnAreWaitedFor) {
  SessionOptions options = withHook([](const DeviceMoment &moment) {
    if (moment.device == 1)
      std::this_thread::sleep_for(100ms);
  });
  options.deadline = 600ms; // for seven steps
  EXPECT_EQ(trainedHash(*makeSession(2, options), 1), trainedHash(*makeSession(2), 1));
}

// ---- opening ----

TEST(Devices, AnotherNumberOfDevicesIsRefused) {
  auto package = Package::open(package::serialize(transferPackage(2)));
  auto session = Session::create(*package, std::move(*makeDevices("cpu")));
  ASSERT_FALSE(session.ok());
  EXPECT_EQ(session.error().text(), "error[E0501]: devices: found 1, want the package's 2: -d "
                                    "cpu:0,cpu:1; for others, compile its "
                                    "source again and give its weights by --params");
}

TEST(Devices, ArenasTogetherMustFit) {
  PackageData data = transferPackage(2);
  uint64_t has = (*makeDevices("cpu"))[0]->memoryBytes(), each = (has / 2 / 64 + 1) * 64;
  for (uint32_t device : {0u, 1u}) {
    data.buffers.push_back({device,
                            data.devices[device].arenaBytes,
                            each,
                            DType::U8,
                            {1},
                            package::Kind::Workspace,
                            "much",
                            0,
                            0,
                            0,
                            0});
    data.devices[device].arenaBytes += each;
  }
  auto package = Package::open(package::serialize(data));
  ASSERT_TRUE(package.ok()) << package.error().text();
  auto session = Session::create(*package, std::move(*makeDevices("2xcpu", {1})));
  ASSERT_FALSE(session.ok());
  EXPECT_EQ(session.error().text(),
            fmt::format("error[E0401]: the plan needs {} bytes on cpu:0,cpu:1, which share {}",
                        data.devices[0].arenaBytes + data.devices[1].arenaBytes, has));
}

TEST(Devices, AreOpenedByNameAndShareTheProcessors) {
  auto two = makeDevices("cpu:0,2");
  ASSERT_TRUE(two.ok());
  ASSERT_EQ(two->size(), 2u);
  EXPECT_EQ((*two)[0]->name(), "cpu:0");
  EXPECT_EQ((*two)[1]->name(), "cpu:2");
  int processors = (*makeDevices("cpu"))[0]->threads();
  EXPECT_EQ((*two)[1]->threads(), std::max(1, processors / 2));
  EXPECT_EQ((*makeDevices("64xcpu"))[63]->threads(), std::max(1, processors / 64));
  EXPECT_EQ((*makeDevices("2xcpu", {3}))[1]->threads(), 3);
}

} // namespace
} // namespace lstmc
