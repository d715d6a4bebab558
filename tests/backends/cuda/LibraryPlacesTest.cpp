// Libraries of CUDA are found in the wheels of Python's environments.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "backends/cuda/text/LibraryPlaces.h"
#include "tests/executor/data/Files.h"

namespace lstmc::cuda {
namespace {

namespace fs = std::filesystem;

/// An environment variable as long as this is there; null: it is not set.
class Variable {
public:
  Variable(const char *name, const char *value) : name_(name) {
    const char *before = std::getenv(name);
    if (before)
      before_ = before;
    set(value);
  }
  Variable(const Variable &) = delete;
  Variable &operator=(const Variable &) = delete;
  ~Variable() { set(before_ ? before_->c_str() : nullptr); }

private:
  void set(const char *value) const { value ? setenv(name_, value, 1) : unsetenv(name_); }
  const char *name_;
  std::optional<std::string> before_;
};

class EnvironmentsOfPython : public testing::Test {
protected:
  /// An environment with a library in a wheel.
  fs::path environment(const std::string &name) const {
    const fs::path prefix = folder.path() / name;
    fs::create_directories(library(prefix).parent_path());
    std::ofstream(library(prefix)) << "a library";
    return prefix;
  }
  static fs::path library(const fs::path &prefix) {
    return prefix / "lib/python3.12/site-packages/nvidia/cudnn/lib/libcudnn.so.9";
  }
  /// With a link to the system's, as `python3 -m venv` makes it.
  static fs::path withPython(const fs::path &prefix) {
    fs::create_directories(prefix / "bin");
    std::ofstream(prefix / "python3.12") << "an interpreter";
    fs::create_symlink(prefix / "python3.12", prefix / "bin/python3");
    return prefix / "bin";
  }
  static bool isFound(const fs::path &prefix) {
    const std::vector<std::string> places = placesOf("libcudnn.so.9", {"cudnn/lib"}).files;
    return std::ranges::find(places, library(prefix).string()) != places.end();
  }

  test::TemporaryFolder folder;
  Variable activated{"VIRTUAL_ENV", nullptr}, conda{"CONDA_PREFIX", nullptr};
};

TEST_F(EnvironmentsOfPython, AreThoseOfAnActivatedEnvironment) {
  const fs::path prefix = environment("one");
  EXPECT_FALSE(isFound(prefix));
  const Variable set("VIRTUAL_ENV", prefix.c_str());
  EXPECT_TRUE(isFound(prefix));
}

TEST_F(EnvironmentsOfPython, AreThoseOfThePythonInPath) {
  const fs::path none = folder.path() / "none", first = environment("first"),
                 second = environment("second");
  const Variable path("PATH", (none.string() + "::" + withPython(first).string() + ":" +
                               withPython(second).string())
                                  .c_str());
  EXPECT_TRUE(isFound(first));
  EXPECT_FALSE(isFound(second));
}

TEST_F(EnvironmentsOfPython, BeginWithTheNameAlone) {
  const Variable path("PATH", nullptr);
  EXPECT_EQ(placesOf("libnone.so.1", {"none/lib"}).files, std::vector<std::string>{"libnone.so.1"});
}

} // namespace
} // namespace lstmc::cuda
