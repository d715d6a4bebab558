// What a profiler is told of a run on a GPU: the op and the user's line of every launch; and
// nothing where none listens.
#include <dlfcn.h>

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/cuda/emulated/EmulatedDriver.h"
#include "backends/cuda/runtime/GpuDevice.h"
#include "tests/e2e/Net.h"

namespace lstmc::e2e {
namespace {

using ::testing::Contains;
using ::testing::ExitedWithCode;
using ::testing::MatchesRegex;

template <typename Function> Function *ofRecorder(const char *name) {
  return reinterpret_cast<Function *>(
      dlsym(dlopen(LSTMC_NVTX_RECORDER, RTLD_NOW | RTLD_LOCAL), name));
}

std::vector<std::string> recorded() {
  std::istringstream text(ofRecorder<const char *()>("recordedRanges")());
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);)
    lines.push_back(line);
  return lines;
}

std::unique_ptr<Session> openOn(const package::PackageData &data, const cuda::Nvtx *profiler) {
  std::vector<std::unique_ptr<Device>> devices;
  devices.push_back(std::move(*cuda::makeGpuDevice("emu:0", cuda::emulatedDriver(),
                                                   {.images = cuda::emulatedImages(),
                                                    .onHost = kernelsOf(cpu::machineLevel()),
                                                    .profiler = profiler})));
  EXPECT_EQ(devices[0]->wantsLabels(), profiler != nullptr);
  EXPECT_EQ(devices[0]->keepsGraphs(), profiler == nullptr);
  auto package = package::Package::open(package::serialize(data), "profiled");
  auto session = Session::create(std::move(*package), std::move(devices));
  EXPECT_TRUE(session.ok() && (*session)->initialise(1).ok());
  return std::move(*session);
}

TEST(Profiler, HearsOpAndLineOfEveryLaunch) {
  Model model = models().front();
  model.recipe.compile.devices = {"emu:0"};
  const package::PackageData data = compileNet(model.recipe).package;
  const Result<cuda::Nvtx> profiler = cuda::loadProfiler(LSTMC_NVTX_RECORDER);
  ASSERT_TRUE(profiler.ok()) << profiler.error().text();

  const uint64_t want = train(*openOn(data, nullptr), model, 1, 1);
  EXPECT_TRUE(recorded().empty());

  const std::unique_ptr<Session> session = openOn(data, &*profiler);
  const size_t before = recorded().size(); // initial values
  EXPECT_EQ(train(*session, model, 1, 1), want);
  const std::vector<std::string> ranges = recorded();
  EXPECT_EQ(ofRecorder<int()>("openRanges")(), 0);
  size_t launches = 0;
  for (const package::Entry &entry : data.entries)
    if (entry.name == "step" || entry.name == "prepare:step")
      launches += entry.programs[0].launches.size();
  EXPECT_EQ(ranges.size() - before, launches);
  for (const char *wanted : {"lstm[a-z0-9_]* rnn_forward .*char_lm.lnet:[0-9]+",
                             "lstm[a-z0-9_]* rnn_backward .*char_lm.lnet:[0-9]+",
                             "decoder product .*char_lm.lnet:[0-9]+"})
    EXPECT_THAT(ranges, Contains(MatchesRegex(wanted)));
}

/// In processes of their own, since it is looked for once in a process.
TEST(ProfilerDeathTest, IsTheOneThatTheEnvironmentNames) {
  auto listens = [](const char *file) {
    file ? setenv("NVTX_INJECTION64_PATH", file, 1) : unsetenv("NVTX_INJECTION64_PATH");
    std::exit(cuda::machineProfiler() ? 1 : 0);
  };
  EXPECT_EXIT(listens(LSTMC_NVTX_RECORDER), ExitedWithCode(1), "");
  EXPECT_EXIT(listens(nullptr), ExitedWithCode(0), "");
  EXPECT_EXIT(listens("libm.so.6"), ExitedWithCode(0), "");
  EXPECT_EXIT(listens("/no/such/profiler.so"), ExitedWithCode(0), "");
}

} // namespace
} // namespace lstmc::e2e
