// A model file is data: no loader starts, opens or writes anything because of a file's contents,
// and the runtime maps no executable page of its own.
#include <csignal>
#include <unistd.h>

#include <sys/mman.h>
#include <sys/socket.h>

#include "backends/registry/Devices.h"
#include "executor/session/Session.h"
#include "tests/executor/loaders/Loaders.h"
#include "tests/executor/loaders/Sandbox.h"
#include "tests/executor/package/SamplePackage.h"

namespace lstmc::test {
namespace {

TEST(Sandbox, EndsWhatItShould) {
  EXPECT_EQ(inSandbox([] { return 3; }), 3);
  EXPECT_EQ(inSandbox([] {
              return ::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                            0) == MAP_FAILED;
            }),
            -SIGSYS);
  EXPECT_EQ(inSandbox([] { return ::socket(AF_INET, SOCK_STREAM, 0); }), -SIGSYS);
  EXPECT_EQ(inSandbox([] { return ::execl("/bin/true", "true", nullptr); }), -SIGSYS);
  EXPECT_EQ(inSandbox([] { return int(::fork()); }), -SIGSYS);
  TemporaryFolder folder;
  std::string path = folder / "new";
  EXPECT_EQ(inSandbox([&] { return int(writeText(path, "x").size()); }), -SIGSYS);
}

TEST(Sandbox, LoadersOnlyRead) {
  TemporaryFolder folder;
  for (const Loader &loader : makeLoaders(folder)) {
    EXPECT_EQ(inSandbox([&] { return loader.load(loader.path).ok() ? 0 : 1; }), 0) << loader.name;
    if (loader.name == "checkpoint")
      continue; // a folder, whose files have loaders of their own
    std::string good = readText(loader.path);
    for (size_t at = 0; at < good.size(); at += good.size() / 100 + 1) {
      std::string bad = good;
      bad[at] = char(bad[at] ^ 0x55);
      std::string path = writeText(folder / "bad", bad);
      int ended = inSandbox([&] { return loader.load(path).ok() ? 0 : 1; });
      EXPECT_GE(ended, 0) << loader.name << ", byte " << at;
    }
  }
}

/// The lines of the process's memory map with executable pages.
std::vector<std::string> executablePages() {
  std::ifstream maps("/proc/self/maps");
  std::vector<std::string> found;
  for (std::string line; std::getline(maps, line);)
    if (line.find(' ') != std::string::npos && line[line.find(' ') + 3] == 'x')
      found.push_back(line);
  return found;
}

TEST(Sandbox, ARunMapsNothingExecutable) {
  EXPECT_FALSE(executablePages().empty());
  int ended = inSandbox([] {
    std::vector<std::string> before = executablePages();
    auto package = package::Package::open(package::serialize(package::samplePackage()));
    auto devices = makeDevices("cpu", {2, Engine::Fast});
    if (!package.ok() || !devices.ok())
      return 1;
    auto session = Session::create(*package, std::move(*devices));
    if (!session.ok() || !(*session)->initialise(1).ok() || !(*session)->run("forward").ok() ||
        !(*session)->setScalar("learning_rate", 0.125) || !(*session)->run("step").ok())
      return 2;
    std::vector<std::string> after = executablePages();
    for (const std::string &line : after)
      if (line[line.find(' ') + 2] == 'w')
        return 3;
    return before == after ? 0 : 4;
  });
  EXPECT_EQ(ended, 0);
}

} // namespace
} // namespace lstmc::test
