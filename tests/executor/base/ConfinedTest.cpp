// A confined process computes and reads what it was given, and can do nothing else.
#include "executor/base/Confined.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "executor/base/ConfinedProcess.h"
#include "tests/executor/data/Files.h"

namespace lstmc {
namespace {

class ConfinedTest : public ::testing::Test {
protected:
  void SetUp() override {
    if (!canConfine())
      GTEST_SKIP() << "this kernel has no Landlock";
    std::ofstream(given_) << "given";
    std::ofstream(other_) << "other";
    may_.readable = {given_};
  }

  /// Bit i of the exit code is whether the i-th call succeeded.
  int successes(std::initializer_list<std::function<bool()>> calls) {
    Result<ConfinedResult> result = runConfined(may_, [&] {
      int bits = 0, bit = 1;
      for (const std::function<bool()> &call : calls) {
        bits |= call() ? bit : 0;
        bit <<= 1;
      }
      return bits;
    });
    return result.ok() ? result->exit : -1;
  }

  std::string failure(const std::function<int()> &work) {
    Result<ConfinedResult> result = runConfined(may_, work);
    return result.ok() ? "" : result.error().text();
  }

  test::TemporaryFolder folder_;
  std::string given_ = (folder_.path() / "given").string(),
              other_ = (folder_.path() / "other").string();
  Confinement may_;
};

TEST_F(ConfinedTest, ComputesAndReadsWhatItWasGiven) {
  Result<ConfinedResult> result = runConfined(may_, [&] {
    std::string text;
    std::thread([&] { std::ifstream(given_) >> text; }).join();
    const bool said = ::write(1, text.data(), text.size()) == 5 && ::write(2, "why", 3) == 3;
    return said ? 7 : 1;
  });
  ASSERT_TRUE(result.ok()) << result.error().text();
  EXPECT_EQ(result->output, "given");
  EXPECT_EQ(result->messages, "why");
  EXPECT_EQ(result->exit, 7);
}

TEST_F(ConfinedTest, CanDoNothingElse) {
  auto opens = [](const std::string &path, int flags) {
    return [path, flags] { return ::open(path.c_str(), flags, 0600) >= 0; };
  };
  EXPECT_EQ(successes({opens(given_, O_RDONLY), opens(other_, O_RDONLY), opens(given_, O_RDWR),
                       opens((folder_.path() / "new").string(), O_WRONLY | O_CREAT),
                       opens(folder_.path(), O_RDONLY | O_DIRECTORY),
                       opens("/proc/self/environ", O_RDONLY)}),
            1);
  EXPECT_EQ(successes({[] { return ::fork() >= 0; },
                       [] { return ::socket(AF_UNIX, SOCK_STREAM, 0) >= 0; },
                       [] { return ::kill(::getppid(), 0) == 0; },
                       [&] { return ::unlink(given_.c_str()) == 0; },
                       [&] { return ::rename(given_.c_str(), other_.c_str()) == 0; },
                       [] { return ::execl("/bin/true", "true", nullptr) == 0; },
                       [] {
                         return ::mmap(nullptr, 4096, PROT_READ | PROT_EXEC,
                                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
                       }}),
            0);
}

TEST_F(ConfinedTest, IsEndedAtALimit) {
  EXPECT_EQ(successes({[] { return std::malloc(size_t(3) << 30) != nullptr; },
                       [] { return std::malloc(size_t(100) << 20) != nullptr; }}),
            2);
  may_.time = std::chrono::seconds(1);
  EXPECT_EQ(failure([]() -> int {
              for (volatile bool on = true; on;)
                ;
              return 0;
            }),
            "error[E0606]: reading: found more than 1 s of work, want at most that");
  EXPECT_EQ(failure([] {
              std::raise(SIGABRT);
              return 0;
            }),
            "error[E0606]: reading: ended by signal 6 (Aborted)");
  may_.outputBytes = 1 << 20;
  EXPECT_EQ(failure([] {
              const std::string text(1 << 16, 'x');
              while (::write(1, text.data(), text.size()) > 0)
                ;
              return 0;
            }),
            "error[E0606]: reading: found more than 1.0 MiB to say, want at most that");
}

} // namespace
} // namespace lstmc
