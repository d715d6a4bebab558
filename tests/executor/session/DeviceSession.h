// A session that tests share, on the package for several devices of
// tests/executor/package/TransferPackage.h.
#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backends/registry/Devices.h"
#include "executor/session/Session.h"
#include "tests/executor/package/TransferPackage.h"

namespace lstmc::test {

/// As `-d` names them.
inline std::unique_ptr<Session> makeSessionOn(std::string_view names, SessionOptions options = {},
                                              int threads = 1) {
  auto made = makeDevices(names, {threads, Engine::Fast});
  EXPECT_TRUE(made.ok()) << made.error().text();
  const auto count = uint32_t(made->size());
  auto package = package::Package::open(package::serialize(package::transferPackage(count)));
  EXPECT_TRUE(package.ok()) << package.error().text();
  auto session = Session::create(*package, std::move(*made), std::move(options));
  EXPECT_TRUE(session.ok()) << session.error().text();
  return std::move(*session);
}

inline std::unique_ptr<Session> makeSession(uint32_t devices, SessionOptions options = {},
                                            int threads = 1, std::string_view kind = "cpu") {
  return makeSessionOn(fmt::format("{}x{}", devices, kind), std::move(options), threads);
}

inline SessionOptions withHook(DeviceHook hook) {
  SessionOptions options;
  options.hook = std::move(hook);
  return options;
}

inline std::vector<float> values(const Tensor &tensor) {
  return {tensor.as<float>(), tensor.as<float>() + tensor.elements()};
}

inline void fillInput(Session &session, int update) {
  Tensor x = *session.input("step", "x");
  for (int64_t i = 0; i < x.elements(); ++i)
    x.as<float>()[i] = std::sin(float(update) + 0.37f * float(i));
  session.setScalar("learning_rate", 0.125);
  session.setScalar("update", int64_t(update));
}

inline uint64_t trainedHash(Session &session, int updates = 5) {
  EXPECT_TRUE(session.initialise(3).ok());
  for (int update = 1; update <= updates; ++update) {
    fillInput(session, update);
    Status status = session.run("step");
    EXPECT_TRUE(status.ok()) << status.error().text();
  }
  return session.weightsHash();
}

/// Rows of device `device` that are so large that their products overflow.
inline void overflowOn(Session &session, int64_t device) {
  fillInput(session, 7);
  Tensor w = *session.parameter("w"), x = *session.input("step", "x");
  for (int i = 0; i < 6; ++i)
    w.as<float>()[i] = 1e30f;
  for (int64_t c = 0; c < x.shape[0]; ++c)
    x.as<float>()[c * x.shape[1] + package::transfers::kRows * device + 1] = 1e30f;
}

} // namespace lstmc::test
