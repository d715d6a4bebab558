// Training on emulated GPUs: the bits of cpus on any number of them, with several streams, in any
// order of the streams, and with fused programs that a compiler made.
#include <gtest/gtest.h>

#include "backends/cuda/emulated/EmulatedDriver.h"
#include "backends/registry/Targets.h"
#include "tests/backends/cuda/HostText.h"
#include "tests/e2e/EmulatedDevices.h"
#include "tests/executor/data/Files.h"

namespace lstmc::e2e {
namespace {

class Emulated : public ::testing::TestWithParam<size_t> {
protected:
  const Model model = models()[GetParam()];
};

INSTANTIATE_TEST_SUITE_P(Models, Emulated, ::testing::Range(size_t(0), models().size()),
                         [](const auto &info) { return models()[info.param].name; });

TEST_P(Emulated, TrainsToTheBitsOfCpus) {
  const uint64_t want = train(*openSession(compileFor(model, 1, 1), 1), model, 1, kUpdates);
  EXPECT_EQ(train(*openEmulated(compileFor(model, 1, 3), 1), model, 1, kUpdates), want);
  EXPECT_EQ(train(*openEmulated(compileFor(model, 2, 3), 2), model, 1, kUpdates), want);
}

/// Tables of launches are in the plan too; where it was made for other devices, the session adds
/// them to it.
TEST_P(Emulated, AsksTheDriverForWhatIsPlannedToTheByte) {
  const uint64_t want = train(*openSession(compileFor(model, 1, 1), 1), model, 1, 1);
  for (const char *kind : {"emu:", "cpu:"}) {
    const package::PackageData data = compileFor(model, 2, 3, kind);
    const auto session = openEmulated(data, 1);
    EXPECT_EQ(train(*session, model, 1, 1), want);
    uint64_t more = 0;
    for (size_t device = 0; device < data.devices.size(); ++device) {
      const DevicePeak peak = session->peaks()[device];
      EXPECT_EQ(cuda::emulatedBytes(int(device)), peak.plannedBytes) << kind << device;
      EXPECT_EQ(peak.touchedBytes, peak.plannedBytes) << kind << device;
      more += peak.plannedBytes - data.devices[device].arenaBytes;
    }
    EXPECT_EQ(more > 0, kind[0] == 'c');
  }
}

/// A way to share a net out to several devices.
struct Way {
  std::string name;
  int devices;
  void (*ask)(passes::CompileOptions &options);
};

const Way kWays[] = {
    {"StagesInChunks", 2, [](passes::CompileOptions &o) { o.stages = 2, o.chunks = 2; }},
    {"StagesOfReplicas", 4, [](passes::CompileOptions &o) { o.stages = 2, o.chunks = 3; }},
    {"Accumulated", 2,
     [](passes::CompileOptions &o) { o.accumulate = 2, o.kvStore = passes::KvStore::Device; }},
    {"UpdatedEverywhere", 3, [](passes::CompileOptions &o) { o.updateOnStore = false; }},
    {"InSlices", 3,
     [](passes::CompileOptions &o) {
       o.kvStore = passes::KvStore::Device, o.bigArrayBound = 16, o.bucketBytes = 0;
     }},
};

class EmulatedWays : public ::testing::TestWithParam<size_t> {};

INSTANTIATE_TEST_SUITE_P(Ways, EmulatedWays, ::testing::Range(size_t(0), std::size(kWays)),
                         [](const auto &info) { return kWays[info.param].name; });

/// With streams as the target of GPUs chooses, and with as many as there can be.
TEST_P(EmulatedWays, TrainToTheBitsOfACpuInAnyOrder) {
  Model model = models()[0];
  const uint64_t want = train(*openSession(compileFor(model, 1, 1), 1), model, 1, kUpdates);
  const Way &way = kWays[GetParam()];
  way.ask(model.recipe.compile);
  const int64_t chosen = targetOf(DeviceKind::Emu).streams();
  EXPECT_GT(chosen, 1);
  for (const int64_t streams : {chosen, int64_t(8)}) {
    const auto seed = uint64_t(streams);
    const auto session = openEmulated(compileFor(model, way.devices, streams), seed);
    EXPECT_EQ(train(*session, model, 1, kUpdates), want) << streams << " streams, seed " << seed;
  }
}

/// A graph that is launched again has the update, with it the seed of dropout, and the learning
/// rate of that run; in every order of its nodes.
TEST_P(Emulated, TakesInEachRunWhatChangesFromRunToRun) {
  Model changing = model;
  const auto cpu = openSession(compileFor(model, 1, 1), 1);
  const auto emulated = openEmulated(compileFor(model, 1, 3), 2);
  for (int64_t update = 1; update <= 4; ++update) {
    changing.learningRate = 0.01 * double(update);
    EXPECT_EQ(train(*emulated, changing, update, 1), train(*cpu, changing, update, 1)) << update;
  }
}

/// And on cpus, where the host writes into their own memory, after the run.
TEST_P(Emulated, TakesInputsWhileTheUpdateBeforeEnds) {
  int64_t ahead = 0;
  const uint64_t want = train(*openSession(compileFor(model, 1, 1), 1), model, 1, 3, &ahead);
  EXPECT_EQ(ahead, 0);
  for (const int devices : {1, 2})
    for (const char *kind :
         {"cpu:", "emu:"}) { // whose packages have one place for an input, or two
      ahead = 0;
      const auto session = openEmulated(compileFor(model, devices, 3, kind), 3);
      EXPECT_EQ(train(*session, model, 1, 3, &ahead), want) << devices << kind;
      EXPECT_EQ(ahead, 3);
    }
}

/// On every device of the package, by one compile.
TEST_P(Emulated, TrainsToTheSameBitsWithCompiledFusedPrograms) {
  const test::TemporaryFolder cache;
  setenv("LSTMC_CACHE_DIR", cache.path().c_str(), 1);
  const cuda::HostText compiler;
  const package::PackageData package = compileFor(model, 2, 3);
  const uint64_t want = train(*openEmulated(package, 1), model, 1, kUpdates);
  EXPECT_EQ(train(*openEmulated(package, 1, nullptr, &compiler), model, 1, kUpdates), want);
  EXPECT_EQ(compiler.compiled, 1);
}

/// Refuses every text, as a compiler that has an error or no memory does.
class RefusingText final : public cuda::TextCompiler {
public:
  std::string identity(int) const override { return "a compiler that refuses"; }
  Result<Bytes> compile(const std::string &, int) const override {
    return fail(ErrorCode::E0503, "libnvrtc.so.13 refuses the text of fused programs: "
                                  "fused.cu(7): error: identifier \"x\" is undefined\n  1 error");
  }
};
/// Compiles to what no driver takes.
class UselessText final : public cuda::TextCompiler {
public:
  std::string identity(int) const override { return "a compiler of useless images"; }
  Result<Bytes> compile(const std::string &, int) const override {
    Bytes image(256);
    image[0] = 0x7f, image[1] = 'E', image[2] = 'L', image[3] = 'F';
    return image;
  }
};

/// With one warning for both devices.
TEST(EmulatedFused, TrainsToTheSameBitsWhereItIsNotCompiled) {
  constexpr size_t kSmall = 2;
  const Model model = models()[kSmall];
  const test::TemporaryFolder cache;
  setenv("LSTMC_CACHE_DIR", cache.path().c_str(), 1);
  const package::PackageData package = compileFor(model, 2, 3);
  const uint64_t want = train(*openEmulated(package, 1), model, 1, kUpdates);
  const RefusingText refusing;
  const UselessText useless;
  const std::string begin = "error[E0503]: fused programs are interpreted, which takes longer: ";
  const std::pair<const cuda::TextCompiler *, std::string> cases[] = {
      {&refusing, "libnvrtc.so.13 refuses the text of fused programs: fused.cu(7): error: "
                  "identifier \"x\" is undefined"},
      {&useless, "the driver refuses the image: "}};
  for (const auto &[compiler, said] : cases) {
    std::vector<std::string> notices;
    SessionOptions options;
    options.watch.notice = [&](const Error &error) { notices.push_back(error.text()); };
    EXPECT_EQ(train(*openEmulated(package, 1, nullptr, compiler, options), model, 1, kUpdates),
              want);
    ASSERT_EQ(notices.size(), 1u);
    EXPECT_EQ(notices[0].find(begin + said), 0u) << notices[0];
  }
}

} // namespace
} // namespace lstmc::e2e
