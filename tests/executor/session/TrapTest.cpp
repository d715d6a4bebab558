// Sessions on devices whose memory the host cannot see: they give the same results as a cpu, and an
// access from the host ends this process.
#include <limits>
#include <numeric>

#include "executor/base/Hash.h"
#include "executor/session/Binding.h"
#include "tests/executor/package/SamplePackage.h"
#include "tests/executor/session/Allocations.h"
#include "tests/executor/session/DeviceSession.h"

namespace lstmc::test {
namespace {

std::unique_ptr<Session> sampleOn(std::string_view device, SessionOptions options = {},
                                  int threads = 1) {
  auto package = package::Package::open(package::serialize(package::samplePackage()));
  EXPECT_TRUE(package.ok()) << package.error().text();
  auto devices = makeDevices(device, {threads, Engine::Fast});
  EXPECT_TRUE(devices.ok()) << devices.error().text();
  auto session = Session::create(*package, std::move(*devices), std::move(options));
  EXPECT_TRUE(session.ok()) << session.error().text();
  return std::move(*session);
}

/// w = 1 to 12, x = 1 to 8.
void fill(Session &session) {
  Tensor w = *session.parameter("w"), x = *session.input("step", "x");
  std::iota(w.as<float>(), w.as<float>() + 12, 1.0f);
  std::iota(x.as<float>(), x.as<float>() + 8, 1.0f);
  session.parametersChanged();
}

const std::vector<float> kY{30, 70, 110, 70, 174, 278};

TEST(Trap, InputsOutputsAndStatesKeepTheirPlaces) {
  auto session = sampleOn("trap:0");
  Tensor x = *session->input("forward", "x"), y = *session->output("forward", "y"),
         h = *session->state("h");
  fill(*session);
  for (float factor : {1.0f, 2.0f}) {
    for (int i = 0; i < 8; ++i)
      x.as<float>()[i] = factor * float(i + 1);
    ASSERT_TRUE(session->run("forward").ok());
    std::vector<float> want = kY;
    for (float &value : want)
      value *= factor;
    EXPECT_EQ(values(y), want);
    EXPECT_EQ(values(h), want);
    EXPECT_EQ(values(*session->output("forward", "y")), want);
  }
  EXPECT_EQ(session->output("forward", "y")->data, y.data);
  EXPECT_EQ(session->input("step", "x")->data, x.data); // the same buffer
  session->resetStates();
  EXPECT_EQ(values(h), std::vector<float>(6, 0));
}

TEST(Trap, AnOutputAskedForAfterTheRunIsThere) {
  auto session = sampleOn("trap:0");
  fill(*session);
  ASSERT_TRUE(session->run("forward").ok());
  EXPECT_EQ(values(*session->output("forward", "y")), kY);
}

TEST(Trap, StatesAreWhatWasSetLast) {
  auto session = sampleOn("trap:0");
  StoredTensor stored = *session->storedState("h");
  std::vector<float> given{1, 2, 3, 4, 5, 6}, back(6);
  stored.write(std::as_bytes(std::span(given)));
  Tensor h = *session->state("h"); // a copy from now on
  EXPECT_EQ(values(h), given);
  h.as<float>()[2] = 9;
  given[2] = 9;
  session->storedState("h")->read(std::as_writable_bytes(std::span(back)));
  EXPECT_EQ(back, given);
  // A run of an entry that does not use it takes the value back.
  session->setScalar("learning_rate", 0.125);
  ASSERT_TRUE(session->run("step").ok());
  EXPECT_EQ(values(h), given);
  stored.read(std::as_writable_bytes(std::span(back))); // the value on the device
  EXPECT_EQ(back, given);
  Tensor other = h;
  std::vector<float> transposed{10, 20, 30, 40, 50, 60};
  other.data = transposed.data();
  other.strides = {1, 2};
  ASSERT_TRUE(session->setState("h", other).ok());
  EXPECT_EQ(values(h), (std::vector<float>{10, 30, 50, 20, 40, 60}));
}

TEST(Trap, StepsGiveTheHashOfACpu) {
  for (int threads : {1, 2}) {
    auto cpu = sampleOn("cpu", {}, threads), trap = sampleOn("trap:0", {}, threads);
    for (Session *session : {cpu.get(), trap.get()}) {
      ASSERT_TRUE(session->initialise(3).ok());
      session->setScalar("learning_rate", 0.01);
      Tensor x = *session->input("step", "x");
      for (int update = 1; update <= 5; ++update) {
        session->setScalar("update", int64_t(update));
        for (int i = 0; i < 8; ++i)
          x.as<float>()[i] = std::sin(float(update * 8 + i));
        ASSERT_TRUE(session->run("step").ok());
      }
    }
    EXPECT_EQ(trap->weightHashes(), cpu->weightHashes());
    EXPECT_EQ(values(*trap->gradient("w")), values(*cpu->gradient("w")));
    EXPECT_EQ(values(*trap->slot("w", "momentum")), values(*cpu->slot("w", "momentum")));
    EXPECT_EQ(trap->output("step", "loss")->as<double>()[0],
              cpu->output("step", "loss")->as<double>()[0]);
  }
}

TEST(Trap, WhatIsWrittenToAParameterCountsUntilItIsMadeAnew) {
  auto session = sampleOn("trap:0");
  ASSERT_TRUE(session->initialise(1).ok());
  const uint64_t first = session->weightsHash();
  session->parameter("w")->as<float>()[3] = 7;
  session->parametersChanged();
  const uint64_t written = session->weightsHash();
  EXPECT_NE(written, first);
  ASSERT_TRUE(session->run("forward").ok()); // takes the value back
  EXPECT_EQ(session->weightsHash(), written);
  EXPECT_EQ(session->parameter("w")->as<float>()[3], 7);
  ASSERT_TRUE(session->initialise(1).ok());
  EXPECT_EQ(session->weightsHash(), first);

  auto other = sampleOn("cpu");
  ASSERT_TRUE(other->setParameter("w", *session->storedParameter("w")).ok());
  EXPECT_EQ(other->weightsHash(), first);
  ASSERT_TRUE(other->initialise(2).ok());
  ASSERT_TRUE(session->setParameter("w", *other->parameter("w")).ok());
  EXPECT_EQ(session->weightsHash(), other->weightsHash());
  EXPECT_EQ(session->setParameter("w", *other->storedState("h")).error().text(),
            "error[E0610]: parameter \"w\": found f32[2, 3], want f32[3, 4]");
}

TEST(Trap, NothingIsAllocatedInARun) {
  auto session = sampleOn("trap:0");
  fill(*session);
  session->setScalar("learning_rate", 1e-3);
  (void)session->state("h");
  for (const char *entry : {"step", "forward"}) {
    (void)session->output(entry, entry == std::string_view("step") ? "loss" : "y");
    session->parametersChanged();
    const size_t before = allocations();
    for (int i = 0; i < 10; ++i) {
      session->setScalar("update", int64_t(i));
      ASSERT_TRUE(session->run(entry).ok());
    }
    EXPECT_EQ(allocations(), before) << entry;
  }
}

TEST(Trap, WhatIsNotFiniteIsNamedAsOnACpu) {
  for (bool checkNan : {false, true}) {
    SessionOptions options;
    options.checkNan = checkNan;
    auto cpu = sampleOn("cpu", options), trap = sampleOn("trap:0", options);
    std::vector<std::string> found;
    for (Session *session : {cpu.get(), trap.get()}) {
      fill(*session);
      for (int i = 0; i < 4; ++i)
        session->parameter("w")->as<float>()[i] = 1e38f;
      session->parametersChanged();
      session->setScalar("learning_rate", 0.5);
      session->setScalar("update", int64_t(1041));
      const uint64_t before = session->weightsHash();
      Status status = session->run("step");
      ASSERT_FALSE(status.ok());
      EXPECT_EQ(status.error().text(), "net.lnet:3:9: error[E0701]: first infinity at update "
                                       "1,041: fc (FullyConnected), output[0, 0, 0]");
      EXPECT_EQ(session->weightsHash(), before);
      found.push_back(session->fault()->reasons[0].text);
      // Inputs are reported before results.
      session->input("step", "x")->as<float>()[6] = std::numeric_limits<float>::quiet_NaN();
      EXPECT_EQ(session->run("step").error().text(),
                "error[E0701]: first NaN at update 1,041: input \"x\", element [1, 2]");
    }
    EXPECT_EQ(found[0], "cpu:0, for i = 1; x in [1, 8], p in [0, 1e+38]");
    EXPECT_EQ(found[1], "trap:0, for i = 1; x in [1, 8], p in [0, 1e+38]");
  }
}

// ---- several devices ----

TEST(Trap, SeveralDevicesGiveTheHashOfCpus) {
  for (bool oneThread : {false, true}) {
    SessionOptions options;
    options.oneThread = oneThread;
    auto cpus = makeSession(3, options), traps = makeSession(3, options, 1, "trap");
    EXPECT_EQ(trainedHash(*traps), trainedHash(*cpus));
    EXPECT_TRUE(traps->compareReplicas().ok());
  }
}

TEST(Trap, ACopyThatDiffersIsFound) {
  auto package = package::Package::open(package::serialize(package::transferPackage(2)));
  auto devices = std::move(*makeDevices("2xtrap", {1, Engine::Fast}));
  Device &second = *devices[1];
  auto session = std::move(*Session::create(*package, std::move(devices)));
  trainedHash(*session, 3);
  ASSERT_TRUE(session->compareReplicas().ok());
  const package::PackageData &data = session->package().data();
  const package::Buffer &copy = data.buffers[data.parameters[0].buffers[1]];
  ASSERT_EQ(copy.device, 1u);
  std::byte byte;
  second.copyOut(copy.offset, {&byte, 1});
  byte ^= std::byte(1);
  second.copyIn(copy.offset, {&byte, 1});
  Status status = session->compareReplicas();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::E0702);
  EXPECT_NE(status.error().text().find("parameter \"w\" differs after update 3"),
            std::string::npos);
}

/// Devices that do not reach each other's memory: the host copies between them, in both directions.
TEST(Trap, CpusAndTrapsTogetherGiveTheHashOfCpus) {
  const uint64_t hash = trainedHash(*makeSession(3));
  for (std::string_view names : {"cpu:0,trap:0,cpu:1", "trap:0,cpu:0,trap:1", "trap:0,cpu:0,cpu:1"})
    for (bool oneThread : {false, true}) {
      SessionOptions options;
      options.oneThread = oneThread;
      auto session = makeSessionOn(names, options);
      EXPECT_EQ(trainedHash(*session), hash) << names;
      EXPECT_TRUE(session->compareReplicas().ok());
      const size_t before = allocations();
      for (int i = 0; i < 10; ++i)
        ASSERT_TRUE(session->run("step").ok());
      if (!oneThread) {
        EXPECT_EQ(allocations(), before) << names;
      }
    }
}

} // namespace
} // namespace lstmc::test
