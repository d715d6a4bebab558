// What tests of the C interface share: handles that close themselves, on the sample package.
#pragma once

#include <lstmc/lstmc.h>

#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "tests/executor/package/SamplePackage.h"

namespace lstmc::test {

struct PackageCloser {
  void operator()(lstmc_package *p) const { lstmc_package_close(p); }
};
struct SessionCloser {
  void operator()(lstmc_session *s) const { lstmc_session_close(s); }
};
using Package = std::unique_ptr<lstmc_package, PackageCloser>;
using Session = std::unique_ptr<lstmc_session, SessionCloser>;

inline Package openSample() {
  lstmc::package::Bytes bytes = lstmc::package::serialize(lstmc::package::samplePackage());
  lstmc_package *package = nullptr;
  EXPECT_EQ(lstmc_package_open_memory(bytes.data(), bytes.size(), &package), LSTMC_OK)
      << lstmc_message();
  return Package(package);
}

inline Session createSession(const lstmc_package *package, const char *devices = nullptr) {
  lstmc_session *session = nullptr;
  lstmc_session_options options = {.size = sizeof options, .devices = devices, .threads = 1};
  EXPECT_EQ(lstmc_session_create(package, devices ? &options : nullptr, &session), LSTMC_OK)
      << lstmc_message();
  return Session(session);
}

/// Runs `forward` on x = first, first + 1, ...
inline std::vector<float> forward(lstmc_session *session, float first) {
  lstmc_tensor x, y;
  EXPECT_EQ(lstmc_session_input(session, "forward", "x", &x), LSTMC_OK) << lstmc_message();
  for (int64_t i = 0; i < lstmc_tensor_elements(&x); ++i)
    static_cast<float *>(x.data)[i] = first + float(i);
  EXPECT_EQ(lstmc_session_run(session, "forward"), LSTMC_OK) << lstmc_message();
  EXPECT_EQ(lstmc_session_output(session, "forward", "y", &y), LSTMC_OK) << lstmc_message();
  const float *values = static_cast<float *>(y.data);
  return {values, values + lstmc_tensor_elements(&y)};
}

} // namespace lstmc::test
