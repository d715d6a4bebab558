// Copies of a parameter that differ are found and named.
#include <random>

#include "executor/base/Hash.h"
#include "executor/session/Binding.h"
#include "tests/executor/session/Allocations.h"
#include "tests/executor/session/DeviceSession.h"

namespace lstmc {
namespace {

using namespace test;

enum class Engine { SideBySide, OneThread, Observed };

class Replicas : public testing::TestWithParam<Engine> {
protected:
  void SetUp() override {
    SessionOptions options;
    options.oneThread = GetParam() == Engine::OneThread;
    session = makeSession(3, options);
    if (GetParam() == Engine::Observed)
      session->setObserver(&observer);
  }
  Tensor copyOf(const package::Parameter &parameter, size_t copy) {
    const package::Buffer &buffer = session->package().data().buffers[parameter.buffers[copy]];
    return session::bind(buffer, session->device(buffer.device));
  }
  std::string found() {
    Status status = session->compareReplicas();
    if (status.ok())
      return "";
    EXPECT_EQ(errorRecord(status.error().code).exit, ExitCode::Numbers);
    return status.error().text();
  }

  SessionObserver observer;
  std::unique_ptr<Session> session;
};
INSTANTIATE_TEST_SUITE_P(Engines, Replicas,
                         testing::Values(Engine::SideBySide, Engine::OneThread, Engine::Observed));

TEST_P(Replicas, AnyFlippedBitIsFoundAndNamed) {
  trainedHash(*session, 3);
  EXPECT_EQ(found(), "");
  std::mt19937 random(5);
  for (int flip = 0; flip < 50; ++flip) {
    const package::Parameter &parameter = session->package().data().parameters[random() % 2];
    size_t which = random() % 3;
    Tensor copy = copyOf(parameter, which), other = copyOf(parameter, (which + 1) % 3);
    size_t bytes = size_t(copy.elements()) * 4, bit = random() % (8 * bytes);
    auto hash = [&](const Tensor &tensor) { return hashBytes(tensor.data, bytes); };
    copy.as<uint8_t>()[bit / 8] ^= uint8_t(1u << bit % 8);
    std::string odd =
        fmt::format("{:016x} on cpu:{}", hash(copy),
                    session->package().data().buffers[parameter.buffers[which]].device);
    std::string text = found();
    EXPECT_EQ(text.substr(0, text.find(": ", 30)),
              fmt::format("error[E0702]: parameter \"{}\" differs after update 3", parameter.name));
    EXPECT_NE(text.find(odd), std::string::npos) << text;
    EXPECT_NE(text.find(fmt::format("{:016x} on ", hash(other))), std::string::npos) << text;
    EXPECT_EQ(std::count(text.begin(), text.end(), ';'), 1) << text;
    copy.as<uint8_t>()[bit / 8] ^= uint8_t(1u << bit % 8);
    ASSERT_EQ(found(), "");
  }
}

TEST_P(Replicas, MessageSaysWhoAgrees) {
  trainedHash(*session, 1);
  const package::Parameter &w = session->package().data().parameters[0];
  uint64_t before = hashBytes(copyOf(w, 0).data, 24);
  copyOf(w, 1).as<float>()[3] = 9;
  EXPECT_EQ(found(),
            fmt::format("error[E0702]: parameter \"w\" differs after update 1: {:016x} on cpu:0, "
                        "cpu:2; {:016x} on cpu:1",
                        before, hashBytes(copyOf(w, 1).data, 24)));
}

// They are updated at the next run.
TEST_P(Replicas, WhatWasSetFromOutsideIsNotComparedBefore) {
  ASSERT_TRUE(session->initialise(3).ok());
  EXPECT_EQ(found(), "");
  trainedHash(*session, 1);
  copyOf(session->package().data().parameters[1], 1).as<float>()[0] = 7;
  EXPECT_NE(found(), "");
  session->parametersChanged();
  EXPECT_EQ(found(), "");
  ASSERT_TRUE(session->run("step").ok());
  EXPECT_EQ(found(), "");
  EXPECT_NE(copyOf(session->package().data().parameters[1], 1).as<float>()[0], 7);
}

TEST(ReplicasOfOne, AreEqual) {
  auto session = makeSession(1);
  trainedHash(*session, 1);
  EXPECT_TRUE(session->compareReplicas().ok());
}

} // namespace
} // namespace lstmc
