// A valid package with one change, and the error that it causes.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "executor/base/Errors.h"
#include "executor/package/Package.h"

namespace lstmc::package {

struct RefusalCase {
  std::string name;
  std::function<void(PackageData &)> breakIt;
  std::string code;
  std::string message;

  friend void PrintTo(const RefusalCase &c, std::ostream *out) { *out << c.name; }
};

/// The text by which a message names one of a launch's ints: `launch` is "...launches[3]",
/// `position` is from the kernel's struct, such as SendInt::peer.
inline std::string intOf(std::string_view launch, size_t position) {
  return fmt::format("{}.ints[{}]", launch, position);
}

/// Likewise one of its floats: `position` is such as SoftmaxFloat::temperature.
inline std::string floatOf(std::string_view launch, size_t position) {
  return fmt::format("{}.floats[{}]", launch, position);
}

/// Opening it has to fail with the case's code and message, exit code 6, and a place in the file.
inline void expectRefused(PackageData data, const RefusalCase &c) {
  c.breakIt(data);
  auto package = Package::open(serialize(data), "a.lstmc");
  ASSERT_FALSE(package.ok());
  EXPECT_EQ(package.error().message, c.message);
  EXPECT_EQ(errorRecord(package.error().code).name, c.code);
  EXPECT_EQ(errorRecord(package.error().code).exit, ExitCode::File);
  EXPECT_EQ(package.error().place.file, "a.lstmc");
  EXPECT_GE(package.error().place.byte, 8);
}

} // namespace lstmc::package
