// Images of compiled text are kept for this user alone, and only what is whole is used.
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "backends/cuda/text/ImageCache.h"
#include "tests/executor/data/Files.h"

namespace lstmc::cuda {
namespace {

/// Its image is the text in reverse.
class Reverser final : public TextCompiler {
public:
  std::string identity(int architecture) const override { return std::to_string(architecture); }
  Result<Bytes> compile(const std::string &text, int) const override {
    ++compiled;
    return Bytes(text.rbegin(), text.rend());
  }
  mutable int compiled = 0;
};

class ImageCache : public ::testing::Test {
protected:
  ImageCache() { setenv("LSTMC_CACHE_DIR", folder.path().c_str(), 1); }

  std::filesystem::path kernels() const { return folder.path() / "kernels"; }
  std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> all;
    for (const auto &entry : std::filesystem::directory_iterator(kernels()))
      all.push_back(entry.path());
    return all;
  }
  /// The image of "abc" for an architecture that nothing in this process was compiled for yet, so
  /// that only the folder can have it.
  static bool isRight(const Result<Bytes> &image) { return image.ok() && asText(*image) == "cba"; }

  test::TemporaryFolder folder;
  Reverser compiler;
};

TEST_F(ImageCache, KeepsOneFileForTextAndArchitecture) {
  EXPECT_TRUE(isRight(imageOf(compiler, "abc", 1)));
  EXPECT_TRUE(isRight(imageOf(compiler, "abc", 1)));
  EXPECT_EQ(compiler.compiled, 1);
  EXPECT_EQ(files().size(), 1u);
  EXPECT_TRUE(isRight(imageOf(compiler, "abc", 2)));
  EXPECT_EQ(compiler.compiled, 2);
  EXPECT_EQ(files().size(), 2u);
  struct stat found{};
  ASSERT_EQ(stat(kernels().c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0700u);
}

/// Takes the place of the process that runs next: the same key, and nothing in memory.
TEST_F(ImageCache, AnotherProcessFindsTheFile) {
  if (fork() == 0)
    _exit(isRight(imageOf(compiler, "abc", 3)) ? 0 : 1);
  int status = -1;
  wait(&status);
  ASSERT_EQ(status, 0);
  EXPECT_TRUE(isRight(imageOf(compiler, "abc", 3)));
  EXPECT_EQ(compiler.compiled, 0);
}

TEST_F(ImageCache, ADamagedFileIsReplaced) {
  if (fork() == 0)
    _exit(isRight(imageOf(compiler, "abc", 4)) ? 0 : 1);
  wait(nullptr);
  const std::filesystem::path file = files().at(0);
  std::fstream(file, std::ios::in | std::ios::out | std::ios::binary).seekp(65).put('X');
  EXPECT_TRUE(isRight(imageOf(compiler, "abc", 4)));
  EXPECT_EQ(compiler.compiled, 1);
  std::string bytes(std::filesystem::file_size(file), 0);
  std::ifstream(file, std::ios::binary).read(bytes.data(), std::streamsize(bytes.size()));
  EXPECT_TRUE(bytes.ends_with("cba"));
}

TEST_F(ImageCache, AFolderThatOthersMayUseIsNotUsed) {
  std::filesystem::create_directory(kernels());
  std::filesystem::permissions(kernels(), std::filesystem::perms(0755));
  EXPECT_TRUE(isRight(imageOf(compiler, "abc", 5)));
  EXPECT_TRUE(files().empty());
  std::filesystem::remove(kernels());
  test::TemporaryFolder elsewhere;
  std::filesystem::create_directory_symlink(elsewhere.path(), kernels());
  EXPECT_TRUE(isRight(imageOf(compiler, "abc", 6)));
  EXPECT_TRUE(std::filesystem::is_empty(elsewhere.path()));
}

TEST_F(ImageCache, WithoutAFolderEverythingIsCompiled) {
  setenv("LSTMC_CACHE_DIR", "/proc/none", 1);
  EXPECT_TRUE(isRight(imageOf(compiler, "abc", 7)));
  EXPECT_EQ(compiler.compiled, 1);
}

} // namespace
} // namespace lstmc::cuda
