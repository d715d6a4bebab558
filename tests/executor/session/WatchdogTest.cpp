// Launches that do not end: they are named, ended, and abandoned if they cannot be ended.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>

#include <unistd.h>

#include "executor/device/HostDevice.h"
#include "executor/device/StopFlag.h"
#include "executor/reference/Reference.h"
#include "tests/executor/session/DeviceSession.h"

namespace lstmc::test {
namespace {

// Deadlines are far longer than a busy machine keeps a thread from running.
using namespace std::chrono_literals;

/// What the norm and the initial values of cpu:0 and the products of the other devices do.
enum class Manner { Prompt, Listens, Deaf, Slow };
std::atomic<Manner> manner{Manner::Prompt};
std::atomic<std::chrono::milliseconds> takes{0ms};

template <KernelId Id> void misbehaving(const LaunchArgs &args, Worker &worker) {
  auto begin = std::chrono::steady_clock::now();
  while (manner == Manner::Deaf || (manner == Manner::Listens && !stopAsked()) ||
         (manner == Manner::Slow && std::chrono::steady_clock::now() - begin < takes.load()))
    std::this_thread::sleep_for(1ms);
  reference::kernel(Id)(args, worker);
}

KernelFunction onFirst(KernelId id, std::span<const Tensor>) {
  return id == KernelId::NormSquared  ? misbehaving<KernelId::NormSquared>
         : id == KernelId::Initialise ? misbehaving<KernelId::Initialise>
                                      : reference::kernel(id);
}
KernelFunction onOthers(KernelId id, std::span<const Tensor>) {
  return id == KernelId::Fused ? misbehaving<KernelId::Fused> : reference::kernel(id);
}
KernelFunction promptly(KernelId id, std::span<const Tensor>) { return reference::kernel(id); }

/// A session whose device `wrong` has such a launch, and the reports about it.
struct Watched {
  Watched(uint32_t devices, uint32_t wrong, LaunchWatch watch, bool checkNan = false) {
    manner = Manner::Prompt;
    auto package = package::Package::open(package::serialize(package::transferPackage(devices)));
    std::vector<std::unique_ptr<Device>> made;
    for (uint32_t i = 0; i < devices; ++i) {
      KernelChooser choose = i != wrong ? promptly : i == 0 ? onFirst : onOthers;
      made.push_back(std::move(*makeHostDevice("cpu:" + std::to_string(i), choose, 2)));
    }
    SessionOptions options;
    options.checkNan = checkNan;
    options.watch = std::move(watch);
    options.watch.tick = 5ms;
    options.watch.notice = [this](const Error &error) { add(notices, error); };
    options.watch.abandon = [this](const Error &error) {
      add(abandoned, error);
      manner = Manner::Prompt;
    };
    options.watch.interrupted = [this] { return interrupted.load(); };
    session = std::move(*Session::create(*package, std::move(made), std::move(options)));
    EXPECT_TRUE(session->initialise(3).ok());
    fillInput(*session, 1);
  }
  void add(std::vector<std::string> &to, const Error &error) {
    std::lock_guard lock(mutex);
    to.push_back(error.text());
  }
  Status run(Manner how) {
    manner = how;
    Status status = session->run("step");
    manner = Manner::Prompt;
    return status;
  }

  std::mutex mutex;
  std::vector<std::string> notices, abandoned;
  std::atomic<bool> interrupted{false};
  std::unique_ptr<Session> session;
};

LaunchWatch after(std::chrono::milliseconds named, std::chrono::milliseconds ended) {
  LaunchWatch watch;
  watch.named = named;
  watch.ended = ended;
  return watch;
}

void expectBegins(const std::string &text, const std::string &begin) {
  EXPECT_EQ(text.substr(0, begin.size()), begin);
}

TEST(Watchdog, ALaunchThatDoesNotEndIsNamedAndThenEnded) {
  for (auto [devices, wrong, place] :
       {std::tuple(1u, 0u, "net.lnet:3:5: error[E0802]: cpu:0 has been at launch "),
        std::tuple(3u, 0u, "net.lnet:3:5: error[E0802]: cpu:0 has been at launch "),
        std::tuple(3u, 2u,
                   "net.lnet:2:5: error[E0802]: cpu:2 has been at launch 2 of step, scale "
                   "(elemwise_mul), for ")})
    for (bool checkNan : {false, true}) {
      Watched watched(devices, wrong, after(200ms, 800ms), checkNan);
      auto begin = std::chrono::steady_clock::now();
      Status status = watched.run(Manner::Listens);
      ASSERT_FALSE(status.ok());
      EXPECT_GE(std::chrono::steady_clock::now() - begin, 700ms);
      expectBegins(status.error().text(), place);
      EXPECT_NE(status.error().text().find("s; the run is given up"), std::string::npos)
          << status.error().text();
      EXPECT_EQ(errorRecord(status.error().code).exit, ExitCode::Job);
      EXPECT_FALSE(watched.session->faultAfterCommit());
      ASSERT_EQ(watched.notices.size(), 1u);
      expectBegins(watched.notices[0], place);
      EXPECT_NE(watched.notices[0].find("the run ends when it takes 0.8 s"), std::string::npos);
      EXPECT_TRUE(watched.abandoned.empty());
      // All devices can continue.
      Watched fresh(devices, wrong, {});
      EXPECT_EQ(trainedHash(*watched.session), trainedHash(*fresh.session));
    }
}

TEST(Watchdog, AProcessThatIsToEndWaitsLessLong) {
  for (uint32_t devices : {1u, 3u}) {
    LaunchWatch watch = after(10s, 60s);
    watch.grace = 1500ms;
    Watched watched(devices, 0, watch);
    watched.interrupted = true;
    Status status = watched.run(Manner::Listens);
    ASSERT_FALSE(status.ok());
    EXPECT_NE(status.error().text().find("s; the process is to end, and waits no longer"),
              std::string::npos)
        << status.error().text();
    EXPECT_TRUE(watched.notices.empty());
    // A launch that ends in time is not interrupted.
    takes = 20ms;
    EXPECT_TRUE(watched.run(Manner::Slow).ok());
  }
}

TEST(Watchdog, ALaunchThatCannotBeEndedIsLeft) {
  LaunchWatch watch = after(200ms, 500ms);
  watch.grace = 200ms;
  Watched watched(1, 0, watch);
  EXPECT_FALSE(watched.run(Manner::Deaf).ok());
  ASSERT_EQ(watched.abandoned.size(), 1u);
  EXPECT_NE(watched.abandoned[0].find("s; it cannot be ended, so the process is"),
            std::string::npos);
}

TEST(Watchdog, WhatUsuallyTakesLongMayTakeLonger) {
  for (int times : {1, 20}) {
    LaunchWatch watch = after(10s, 1500ms);
    watch.timesMedian = times;
    Watched watched(1, 0, watch);
    takes = 300ms;
    for (int i = 0; i < 3; ++i)
      EXPECT_TRUE(watched.run(Manner::Slow).ok());
    takes = 3s; // between 1.5 s and 20 times 0.3 s, far from both
    EXPECT_EQ(watched.run(Manner::Slow).ok(), times == 20) << times;
  }
}

TEST(Watchdog, InitialValuesThatDoNotEndAreNamedAndEnded) {
  for (uint32_t devices : {1u, 3u}) {
    Watched watched(devices, 0, after(200ms, 800ms));
    manner = Manner::Listens;
    Status status = watched.session->initialise(3);
    manner = Manner::Prompt;
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, ErrorCode::E0802);
    EXPECT_NE(status.error().text().find("cpu:0 has been at the initial values of \"w\", for "),
              std::string::npos)
        << status.error().text();
    EXPECT_NE(status.error().text().find("s; the run is given up"), std::string::npos);
    EXPECT_EQ(watched.notices.size(), 1u);
    // They can be made again, and devices can continue.
    ASSERT_TRUE(watched.session->initialise(3).ok());
    fillInput(*watched.session, 1);
    Watched fresh(devices, 0, {});
    EXPECT_EQ(trainedHash(*watched.session), trainedHash(*fresh.session));
  }
}

/// How often the other threads of this process have given up their processor to wait.
long waitsOfOthers() {
  long sum = 0;
  for (const auto &task : std::filesystem::directory_iterator("/proc/self/task")) {
    if (task.path().filename() == std::to_string(gettid()))
      continue;
    std::ifstream status(task.path() / "status");
    for (std::string line; std::getline(status, line);)
      if (line.starts_with("voluntary_ctxt_switches:"))
        sum += std::stol(line.substr(line.find(':') + 1));
  }
  return sum;
}

TEST(Watchdog, AnIdleSessionWakesNobody) {
  Watched watched(1, 0, after(400ms, 900ms));
  ASSERT_TRUE(watched.run(Manner::Prompt).ok());
  long before = -1;
  for (int tries = 0; tries < 200 && before != waitsOfOthers(); ++tries) { // until all sleep
    before = waitsOfOthers();
    std::this_thread::sleep_for(100ms); // 20 ticks
  }
  EXPECT_EQ(before, waitsOfOthers());
  // It is awake again for what runs.
  EXPECT_FALSE(watched.run(Manner::Listens).ok());
}

TEST(Watchdog, ShortLaunchesAreNoLongOne) {
  Watched watched(1, 0, after(3s, 6s));
  takes = 250ms;
  for (int i = 0; i < 15; ++i)
    EXPECT_TRUE(watched.run(Manner::Slow).ok());
  EXPECT_TRUE(watched.notices.empty());
}

} // namespace
} // namespace lstmc::test
