// Where tests find and write files.
#pragma once

#include "cmake/SourceFolder.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace lstmc::test {

/// Path of a file of the shared test data, or "" if they are not present.
inline std::string dataFile(const std::string &name) {
  const char *given = std::getenv("LSTMC_DATA");
  std::filesystem::path folder =
      given ? std::filesystem::path(given)
            : std::filesystem::path(LSTMC_SOURCE_DIR) / ".." / "shared" / "data";
  std::filesystem::path file = folder / name;
  return std::filesystem::exists(file) ? file.string() : std::string();
}

/// A folder for the running test only, removed with it.
class TemporaryFolder {
public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "lstmc-test-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string &name) const { return (path_ / name).string(); }
  const std::filesystem::path &path() const { return path_; }

private:
  std::filesystem::path path_;
};

inline std::string writeText(const std::string &path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

inline std::string readText(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace lstmc::test

/// Skips a test that needs a shared data file, and names the file.
#define LSTMC_DATA_FILE(variable, name)                                                            \
  std::string variable = ::lstmc::test::dataFile(name);                                            \
  if (variable.empty())                                                                            \
  GTEST_SKIP() << "no shared data: " << (name)

/// Checks that a Result or Status failed with a code and a text in its message.
#define EXPECT_REFUSED(expression, wantCode, wantText)                                             \
  do {                                                                                             \
    auto &&refused_ = (expression);                                                                \
    ASSERT_FALSE(refused_.ok());                                                                   \
    EXPECT_EQ(::lstmc::errorRecord(refused_.error().code).name, #wantCode)                         \
        << refused_.error().text();                                                                \
    EXPECT_NE(refused_.error().text().find(wantText), std::string::npos)                           \
        << refused_.error().text();                                                                \
  } while (false)

#define ASSERT_OK(expression)                                                                      \
  do {                                                                                             \
    const auto &ok_ = (expression);                                                                \
    ASSERT_TRUE(ok_.ok()) << ok_.error().text();                                                   \
  } while (false)
