// Training on emulated GPUs: the bits of cpus on any number of them, with several streams, in any
// order of the streams; and an event that is left out is found.
#include <algorithm>
#include <cmath>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/cuda/emulated/EmulatedDriver.h"
#include "backends/registry/Targets.h"
#include "executor/abi/Packing.h"
#include "executor/base/Hash.h"
#include "executor/base/Numeric.h"
#include "executor/device/AsyncCopier.h"
#include "executor/device/GraphSharer.h"
#include "executor/session/SplitStep.h"
#include "tests/backends/cuda/HostText.h"
#include "tests/e2e/Net.h"
#include "tests/executor/data/Files.h"

namespace lstmc::e2e {
namespace {

constexpr int64_t kUpdates = 2;

package::PackageData compileFor(Model model, int devices, int64_t streams,
                                const std::string &kind = "cpu:") {
  model.recipe.compile.devices.clear();
  for (int device = 0; device < devices; ++device)
    model.recipe.compile.devices.push_back(kind + std::to_string(device));
  model.recipe.compile.streams = streams;
  return compileNet(model.recipe).package;
}

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

/// Passes all calls on.
class PassesOn : public Device, public AsyncCopier {
public:
  explicit PassesOn(std::unique_ptr<Device> device)
      : device_(std::move(device)), copier_(dynamic_cast<AsyncCopier &>(*device_)) {}

  void copyAhead(uint64_t offset, std::span<const std::byte> from) override {
    copier_.copyAhead(offset, from);
  }
  void awaitAhead() override { copier_.awaitAhead(); }
  void copyWithin(uint64_t to, uint64_t from, uint64_t bytes) override {
    copier_.copyWithin(to, from, bytes);
  }
  void copyBack(uint64_t offset, std::span<std::byte> to) override { copier_.copyBack(offset, to); }
  void awaitBack() override { copier_.awaitBack(); }

  bool keepsGraphs() const override { return device_->keepsGraphs(); }
  void runGraph(PreparedProgram &program, size_t number,
                const std::function<void()> &give) override {
    device_->runGraph(program, number, give);
  }

  void wait(uint32_t stream, uint32_t event) override { device_->wait(stream, event); }
  const std::string &name() const override { return device_->name(); }
  uint64_t memoryBytes() const override { return device_->memoryBytes(); }
  int threads() const override { return device_->threads(); }
  Status allocate(uint64_t bytes) override { return device_->allocate(bytes); }
  std::byte *arena() const override { return device_->arena(); }
  uint64_t touchedBytes() const override { return device_->touchedBytes(); }
  Result<std::unique_ptr<PreparedProgram>> prepare(std::vector<LaunchSpec> launches) override {
    return device_->prepare(std::move(launches));
  }
  Status reserve(uint32_t streams, uint32_t events) override {
    return device_->reserve(streams, events);
  }
  void launch(uint32_t stream, PreparedProgram &program, size_t first, size_t last,
              LaunchInterval *times) override {
    device_->launch(stream, program, first, last, times);
  }
  void record(uint32_t stream, uint32_t event) override { device_->record(stream, event); }
  void synchronize(uint32_t stream) override { device_->synchronize(stream); }
  void finish() override { device_->finish(); }
  uint64_t launchesBegun() const override { return device_->launchesBegun(); }
  void stop(bool stopped) override { device_->stop(stopped); }
  bool hostVisible() const override { return device_->hostVisible(); }
  void copyIn(uint64_t offset, std::span<const std::byte> from) override {
    device_->copyIn(offset, from);
  }
  void copyOut(uint64_t offset, std::span<std::byte> to) const override {
    device_->copyOut(offset, to);
  }
  void clear(uint64_t offset, uint64_t bytes) override { device_->clear(offset, bytes); }
  bool reaches(const Device &) const override { return false; }

  Device &inner() const { return *device_; }

private:
  std::unique_ptr<Device> device_;
  AsyncCopier &copier_;
};

/// All but one call of wait(). With `graphs`, what waits order is kept in graphs.
class ForgetsOneWait final : public PassesOn {
public:
  using PassesOn::PassesOn;

  static inline int64_t forgotten = -1, waits = 0; ///< which call; calls so far
  static inline bool graphs = false;

  bool keepsGraphs() const override { return graphs; }
  void wait(uint32_t stream, uint32_t event) override {
    if (waits++ != forgotten)
      PassesOn::wait(stream, event);
  }
};

/// Writes down what it is given: l launches, f a wait for all; copies: c in, a ahead, w within the
/// arena, b back; A and B the waits for those.
class WritesDown final : public PassesOn {
public:
  using PassesOn::PassesOn;

  static inline std::string calls;

  void launch(uint32_t stream, PreparedProgram &program, size_t first, size_t last,
              LaunchInterval *times) override {
    calls += 'l';
    PassesOn::launch(stream, program, first, last, times);
  }
  void runGraph(PreparedProgram &program, size_t number,
                const std::function<void()> &give) override {
    calls += 'l';
    PassesOn::runGraph(program, number, give);
  }
  void copyIn(uint64_t offset, std::span<const std::byte> from) override {
    calls += 'c';
    PassesOn::copyIn(offset, from);
  }
  void finish() override {
    calls += 'f';
    PassesOn::finish();
  }
  void copyAhead(uint64_t offset, std::span<const std::byte> from) override {
    calls += 'a';
    PassesOn::copyAhead(offset, from);
  }
  void awaitAhead() override {
    calls += 'A';
    PassesOn::awaitAhead();
  }
  void copyWithin(uint64_t to, uint64_t from, uint64_t bytes) override {
    calls += 'w';
    PassesOn::copyWithin(to, from, bytes);
  }
  void copyBack(uint64_t offset, std::span<std::byte> to) override {
    calls += 'b';
    PassesOn::copyBack(offset, to);
  }
  void awaitBack() override {
    calls += 'B';
    PassesOn::awaitBack();
  }
};

WrapDevice writesDown() {
  return [](std::unique_ptr<Device> device) {
    return std::unique_ptr<Device>(std::make_unique<WritesDown>(std::move(device)));
  };
}

uint64_t bytesHash(const Tensor &tensor) {
  return hashBytes(tensor.data, size_t(tensor.elements()) * dtypeBytes(tensor.dtype));
}

/// What a device is given in two updates.
std::string callsOf(Session &session, const Model &model, int64_t first, int64_t *ahead) {
  WritesDown::calls.clear();
  train(session, model, first, 2, ahead);
  return WritesDown::calls;
}

/// A package for cpus has one place for an input. Outputs that are ready at the commit are copied
/// while weights are updated, those that are looked at there before.
TEST(EmulatedInputs, AreCopiedWhileTheUpdateBeforeEnds) {
  const Model model = models()[0];
  const auto session = openEmulated(compileFor(model, 1, 1), 1, writesDown());
  train(*session, model, 1, 1); // whose init is another entry
  int64_t ahead = 0;
  const std::string given = callsOf(*session, model, 2, &ahead),
                    whole = callsOf(*session, model, 4, nullptr);
  EXPECT_THAT(given, testing::MatchesRegex("(c+l+f+b+B+b+l+c+f+B+)+"));
  EXPECT_THAT(whole, testing::MatchesRegex("(c+l+f+b+B+b+l+f+B+)+"));
  EXPECT_EQ(std::ranges::count(given, 'c') - std::ranges::count(whole, 'c'), 2)
      << "data and label of a third update, and no input twice";
}

/// One for GPUs has two.
TEST(EmulatedInputs, AreCopiedWhileGradientsAreComputed) {
  const Model model = models()[0];
  const package::PackageData data = compileFor(model, 1, 1, "emu:");
  const auto session = openEmulated(data, 1, writesDown());
  train(*session, model, 1, 1);
  int64_t ahead = 0;
  const std::string given = callsOf(*session, model, 2, &ahead),
                    whole = callsOf(*session, model, 4, nullptr);
  EXPECT_THAT(given, testing::MatchesRegex("c+l+a+f+b+B+b+l+f+A+B+w+c+l+a+f+b+B+b+l+f+A+B+"));
  EXPECT_THAT(whole, testing::MatchesRegex("(c+l+f+b+B+b+l+f+B+)+"));
  EXPECT_LT(std::ranges::count(given, 'c'), std::ranges::count(whole, 'c')) << "scalars alone";
}

/// Of a forward pass, which has no commit.
TEST(EmulatedInputs, AreCopiedWhileAForwardPassRuns) {
  const Model model = models()[0];
  const package::PackageData data = compileFor(model, 1, 1, "emu:");
  const auto cpu = openSession(compileFor(model, 1, 1), 1), gpu = openEmulated(data, 1);
  for (Session *session : {cpu.get(), gpu.get()})
    feed(*session, "forward", 1, model.classes, model.recipe.steps);
  const package::Binding &output = data.entries[*gpu->package().findEntry("forward")].outputs[0];
  int64_t ahead = 0;
  for (int64_t batch = 1; batch <= 4; ++batch) {
    ASSERT_TRUE(cpu->run("forward").ok());
    feed(*cpu, "forward", batch + 1, model.classes, model.recipe.steps);
    ASSERT_TRUE(gpu->run("forward",
                         [&] {
                           feed(*gpu, "forward", batch + 1, model.classes, model.recipe.steps);
                           ++ahead;
                           return true;
                         })
                    .ok());
    EXPECT_EQ(bytesHash(*gpu->output("forward", output.name)),
              bytesHash(*cpu->output("forward", output.name)))
        << batch;
  }
  EXPECT_EQ(ahead, 4);
}

/// What was filled ahead is not what another loop over the same inputs begins with.
TEST(EmulatedInputs, AreThoseThatAnotherLoopFills) {
  const Model model = models()[0];
  for (const char *kind : {"cpu:", "emu:"}) {
    const auto cpu = openSession(compileFor(model, 1, 1), 1),
               gpu = openEmulated(compileFor(model, 1, 3, kind), 1);
    int64_t ahead = 0;
    train(*cpu, model, 1, 2);
    train(*gpu, model, 1, 2, &ahead);
    EXPECT_EQ(train(*gpu, model, 7, 2, &ahead), train(*cpu, model, 7, 2)) << kind;
    EXPECT_EQ(ahead, 4);
  }
}

/// Another session uses the arena before the run that they are for.
TEST(EmulatedInputs, AreCopiedAgainWhereANeighbourRanInBetween) {
  const Model model = models()[0];
  Model shorter = model;
  shorter.recipe.steps = 5;
  const auto other = package::Package::open(package::serialize(compileFor(shorter, 1, 1, "emu:")));
  SessionOptions options;
  options.neighbours = {*other};
  const package::PackageData data = compileFor(model, 1, 1, "emu:");
  std::vector<uint64_t> hashes;
  for (const bool ahead : {false, true}) {
    const auto session = openEmulated(data, 1, nullptr, nullptr, options);
    const auto beside = std::move(*Session::beside(*session, *other));
    auto fill = [&](int64_t update) {
      feed(*session, "step", update, model.classes, model.recipe.steps);
      return true;
    };
    fill(1);
    session->setScalar("learning_rate", model.learningRate);
    session->setScalar("update", int64_t(1));
    ASSERT_TRUE(
        (ahead ? session->run("step", [&] { return fill(2); }) : session->run("step")).ok());
    if (!ahead)
      fill(2);
    beside->continueFrom(*session);
    train(*beside, shorter, 2, 1);
    session->continueFrom(*beside);
    ASSERT_TRUE(session->run("step").ok());
    hashes.push_back(session->weightsHash());
  }
  EXPECT_EQ(hashes[1], hashes[0]);
}

/// The one that fails is explained by its own inputs, and the next run has what the host wrote
/// after it.
TEST(EmulatedInputs, OfAnUpdateThatFailsAreNotLost) {
  const Model model = models()[2]; // of real inputs
  const auto cpu = openSession(compileFor(model, 1, 1), 1),
             gpu = openEmulated(compileFor(model, 1, 3, "emu:"), 1);
  std::vector<std::string> faults;
  std::vector<uint64_t> hashes;
  for (Session *session : {cpu.get(), gpu.get()}) {
    train(*session, model, 1, 1);
    const package::PackageData &data = session->package().data();
    const package::Entry &step = data.entries[*session->package().findEntry("step")];
    std::vector<Tensor> inputs; // asked for once
    for (const package::Binding &input : step.inputs)
      if (input.role != "scalar")
        inputs.push_back(*session->input("step", input.name));
    auto fill = [&](int64_t number) {
      for (const Tensor &input : inputs)
        for (int64_t i = 0; i < input.elements(); ++i)
          writeElement(input.data, input.dtype, i, (i + number) % 5);
    };
    fill(2);
    auto real = std::ranges::find(inputs, DType::F32, &Tensor::dtype);
    real->as<float>()[5] = NAN;
    const Status status = session->run("step", [&] {
      fill(3);
      return true;
    });
    ASSERT_FALSE(status.ok());
    faults.push_back(session->fault()->message);
    EXPECT_TRUE(std::isnan(real->as<float>()[5])); // its inputs are there to be kept
    EXPECT_EQ(real->as<float>()[6], (6 + 2) % 5);
    fill(4);
    ASSERT_TRUE(session->run("step").ok());
    hashes.push_back(session->weightsHash());
  }
  EXPECT_EQ(faults[1], faults[0]);
  EXPECT_EQ(hashes[1], hashes[0]);
}

/// Another entry may use their memory.
TEST(EmulatedInputs, AreCopiedAgainWhereAnotherEntryRanInBetween) {
  const Model model = models()[0];
  const package::PackageData data = compileFor(model, 1, 1);
  const auto cpu = openSession(data, 1), gpu = openEmulated(data, 1);
  int64_t ahead = 0;
  train(*cpu, model, 1, 1);
  train(*gpu, model, 1, 1, &ahead);
  for (Session *session : {cpu.get(), gpu.get()}) {
    feed(*session, "forward", 7, model.classes, model.recipe.steps);
    ASSERT_TRUE(session->run("forward").ok());
  }
  EXPECT_EQ(train(*gpu, model, 2, 1), train(*cpu, model, 2, 1));
}

/// As in a package whose update reads them.
TEST(EmulatedInputs, AreNotFilledAheadWhereSomethingAfterCommitUsesThem) {
  const Model model = models()[0];
  package::PackageData data = compileFor(model, 1, 1);
  uint32_t last = 0;
  package::Entry &step = *std::ranges::find(data.entries, "step", &package::Entry::name);
  auto readsInput = [&](const package::Launch &launch) {
    return std::ranges::any_of(launch.operands, [&](const package::Operand &operand) {
      return std::ranges::any_of(step.inputs, [&](const package::Binding &input) {
        return input.role != "scalar" && input.buffer == operand.buffer;
      });
    });
  };
  package::DeviceProgram &program = step.programs[0];
  for (uint32_t i = 0; i < program.commit; ++i)
    if (readsInput(program.launches[i]))
      last = i;
  program.commit = last;
  const auto session = openEmulated(data, 1);
  int64_t ahead = 0;
  train(*session, model, 1, 2, &ahead);
  EXPECT_EQ(ahead, 0);
}

/// The learning rate of a program that has a view of it: what is written there while an update ends
/// is the next one's.
TEST(EmulatedInputs, LeaveScalarsThatTheUpdateStillReads) {
  const Model model = models()[0];
  const package::PackageData data = compileFor(model, 1, 1);
  auto weightsAfterTwo = [&](std::unique_ptr<Session> session) {
    const Tensor rate = *session->input("step", "learning_rate");
    for (int64_t update = 1; update <= 2; ++update) {
      auto fill = [&](int64_t next) {
        feed(*session, "step", next, model.classes, model.recipe.steps);
        *rate.as<float>() = 0.25f * float(next);
      };
      fill(update);
      session->setScalar("update", update);
      EXPECT_TRUE(session
                      ->run("step",
                            [&] {
                              fill(update + 1);
                              return true;
                            })
                      .ok());
    }
    return session->weightsHash();
  };
  EXPECT_EQ(weightsAfterTwo(openEmulated(data, 1)), weightsAfterTwo(openSession(data, 1)));
}

class EmulatedStreams : public ::testing::TestWithParam<bool> {};

INSTANTIATE_TEST_SUITE_P(Ways, EmulatedStreams, ::testing::Bool(),
                         [](const auto &info) { return info.param ? "Graphs" : "Launches"; });

TEST_P(EmulatedStreams, FindEveryEventThatIsLeftOut) {
  ForgetsOneWait::graphs = GetParam();
  const Model model = models()[0];
  const package::PackageData data = compileFor(model, 1, 2);
  auto trainForgetting = [&](int64_t wait) {
    ForgetsOneWait::forgotten = wait;
    ForgetsOneWait::waits = 0;
    auto session = openEmulated(data, 3, [](std::unique_ptr<Device> device) {
      return std::unique_ptr<Device>(std::make_unique<ForgetsOneWait>(std::move(device)));
    });
    train(*session, model, 1, 1);
  };
  trainForgetting(-1);
  const int64_t waits = ForgetsOneWait::waits;
  EXPECT_GT(waits, 4);
  for (int64_t wait = 0; wait < waits; ++wait)
    try {
      trainForgetting(wait);
      ADD_FAILURE() << "nothing was found without wait " << wait << " of " << waits;
    } catch (const std::runtime_error &error) {
      EXPECT_NE(std::string(error.what()).find("no event orders the two"), std::string::npos)
          << error.what();
    }
}

/// In graphs that devices share: all but one call of waitFor().
class ForgetsOneMessage final : public PassesOn, public GraphSharer {
public:
  using PassesOn::PassesOn;

  static inline int64_t forgotten = -1, waits = 0; ///< which call; calls so far
  static inline std::set<size_t> graphs;           ///< that were run

  bool reaches(const Device &other) const override { return inner().reaches(innerOf(other)); }
  bool sharesGraphs(const Device &other) const override {
    return sharer().sharesGraphs(innerOf(other));
  }
  bool mayBeShared(const PreparedProgram &program) const override {
    return sharer().mayBeShared(program);
  }
  void runSharedGraph(std::span<const GraphShare> all, size_t number,
                      const std::function<void()> &give) override {
    std::vector<GraphShare> those(all.begin(), all.end());
    for (GraphShare &share : those)
      share.device = &innerOf(*share.device);
    graphs.insert(number);
    sharer().runSharedGraph(those, number, give);
  }
  void waitFor(uint32_t stream, const Device &other, uint32_t event) override {
    if (waits++ != forgotten)
      sharer().waitFor(stream, innerOf(other), event);
  }

private:
  static Device &innerOf(const Device &device) {
    return static_cast<const ForgetsOneMessage &>(device).inner();
  }
  GraphSharer &sharer() const { return dynamic_cast<GraphSharer &>(inner()); }
};

/// Each part of an entry is one graph of all devices, with their messages. One that is not waited
/// for is found, unless what it brings was there before, or came after another message too.
TEST(EmulatedGraphs, AreSharedByDevicesAndFindMessagesThatAreNotAwaited) {
  const Model model = models()[0];
  const package::PackageData data = compileFor(model, 3, 2, "emu:");
  auto trainForgetting = [&](int64_t wait, int64_t updates) {
    ForgetsOneMessage::forgotten = wait;
    ForgetsOneMessage::waits = 0;
    auto session = openEmulated(data, 1, [](std::unique_ptr<Device> device) {
      return std::unique_ptr<Device>(std::make_unique<ForgetsOneMessage>(std::move(device)));
    });
    ForgetsOneMessage::graphs.clear();
    return train(*session, model, 1, updates);
  };
  const uint64_t want = train(*openSession(compileFor(model, 1, 1), 1), model, 1, kUpdates);
  EXPECT_EQ(trainForgetting(-1, kUpdates), want);
  EXPECT_EQ(ForgetsOneMessage::graphs.size(), 3u); // of init, and of the parts of the update
  int64_t found = 0;
  constexpr int64_t kEvery = 5; // it takes long
  for (int64_t wait = 0, all = ForgetsOneMessage::waits; wait < all; wait += kEvery)
    try {
      trainForgetting(wait, 1);
    } catch (const std::runtime_error &error) {
      EXPECT_NE(std::string(error.what()).find("no event orders the two"), std::string::npos)
          << error.what();
      ++found;
    }
  EXPECT_GE(found, 3);
}

/// Of an update in halves (dist_async), whose entries are made of launches of `step`: gradients,
/// and what no parameter's update needs.
TEST(EmulatedGraphs, AreSharedInTheHalvesOfASplitStep) {
  for (const char *optimizer : {"adam", "lamb"})
    for (const int64_t streams : {2, 8}) {
      SCOPED_TRACE(fmt::format("{}, {} streams", optimizer, streams));
      Model model = models()[0];
      model.recipe.compile.optimizer = {.name = optimizer};
      model.recipe.compile.kvStore = passes::KvStore::Device;
      model.recipe.compile.updateOnStore = false;
      const auto cpu =
          openSession(compileFor(model, 2, streams), 1); // values are those of equal plans
      ForgetsOneMessage::forgotten = -1;
      const auto gpus = openEmulated(
          compileFor(model, 2, streams, "emu:"), 1, [](std::unique_ptr<Device> device) {
            return std::unique_ptr<Device>(std::make_unique<ForgetsOneMessage>(std::move(device)));
          });
      std::vector<std::vector<std::byte>> values;
      for (Session *session : {cpu.get(), gpus.get()}) {
        const package::PackageData &data = session->package().data();
        for (const package::Binding &input :
             data.entries[*session->package().findEntry("step")].inputs)
          if (input.role == "scalar")
            session->setScalar(input.name, 0.5); // those of the optimizer's formula
        train(*session, model, 1, 1);
        auto step = session::SplitStep::create(*session);
        ASSERT_TRUE(step.ok()) << step.error().text();
        std::vector<std::byte> &all = values.emplace_back();
        for (int64_t update = 2; update <= 3; ++update) {
          feed(*session, "step", update, model.classes, model.recipe.steps);
          session->setScalar("update", update);
          ForgetsOneMessage::graphs.clear();
          const Status gradients = step->gradients();
          ASSERT_TRUE(gradients.ok()) << gradients.error().text();
          if (session == gpus.get())
            EXPECT_EQ(ForgetsOneMessage::graphs.size(), 1u);
          for (size_t key = 0; key < step->keys(); ++key) {
            std::vector<std::byte> bytes(step->valuesBytes(step->whole(key)));
            step->readValues(step->whole(key), bytes);
            all.insert(all.end(), bytes.begin(), bytes.end());
          }
          ASSERT_TRUE(step->rest().ok());
        }
      }
      EXPECT_EQ(values[1], values[0]);
    }
}

/// The launch with the norm of a weight, which is of an update (lamb) and needs nothing made in
/// `step`, moved before launch `to`, on another stream; its result is where nothing else is.
package::PackageData withNormMoved(package::PackageData data, size_t step, uint32_t norm,
                                   uint32_t to, uint32_t stream) {
  std::vector<package::Launch> &launches = data.entries[step].programs[0].launches;
  package::Launch moved = launches[norm];
  moved.stream = stream;
  launches.erase(launches.begin() + norm);
  launches.insert(launches.begin() + to, moved);
  for (package::Buffer &buffer : data.buffers)
    if (buffer.entry == int32_t(step))
      for (uint32_t *launch : {&buffer.from, &buffer.to})
        *launch += *launch >= to && *launch < norm ? 1 : 0;
  package::Buffer &result = data.buffers[moved.operands[NormSquaredOperand::y].buffer];
  result.from = to;
  result.offset = data.devices[0].arenaBytes;
  data.devices[0].arenaBytes += uint64_t(roundUp(int64_t(result.bytes), kAlignment));
  return data;
}

/// Of two launches before the commit the second waits for such a norm, and that for the first. The
/// first half has no norm, and keeps their order.
TEST(EmulatedGraphs, KeepAnOrderThatGoesByWayOfALaunchThatIsLeftOut) {
  Model model = models()[0];
  model.recipe.compile.optimizer = {.name = "lamb"};
  const package::PackageData data = compileFor(model, 1, 3, "emu:");
  const auto step =
      size_t(std::ranges::find(data.entries, "step", &package::Entry::name) - data.entries.begin());
  const std::vector<package::Launch> &launches = data.entries[step].programs[0].launches;
  const auto norm = std::ranges::find_if(launches, [&](const package::Launch &launch) {
    return launch.kernel == KernelId::NormSquared && launch.event < 0 && launch.waits.empty() &&
           data.buffers[launch.operands[NormSquaredOperand::kFixed].buffer].kind ==
               package::Kind::Parameter;
  });
  ASSERT_NE(norm, launches.end());
  int32_t events = 0;
  for (const package::Launch &launch : launches)
    events = std::max(events, launch.event + 1);
  int tried = 0;
  for (uint32_t second = 0; second < 12; ++second)
    for (size_t k = 0; k < launches[second].waits.size(); ++k) {
      const uint32_t event = launches[second].waits[k];
      const auto first = std::ranges::find(launches, int32_t(event), &package::Launch::event);
      const uint32_t other = 3 - first->stream - launches[second].stream;
      package::PackageData changed =
          withNormMoved(data, step, uint32_t(norm - launches.begin()), second, other);
      std::vector<package::Launch> &own = changed.entries[step].programs[0].launches;
      own[second].waits = {event};
      own[second].event = events;
      own[second + 1].waits[k] = uint32_t(events);
      const auto session = openEmulated(changed, 1);
      for (const package::Binding &input : data.entries[step].inputs)
        if (input.role == "scalar")
          session->setScalar(input.name, 0.5);
      auto halves = session::SplitStep::create(*session);
      ASSERT_TRUE(halves.ok()) << halves.error().text();
      feed(*session, "step", 1, model.classes, model.recipe.steps);
      EXPECT_TRUE(halves->gradients().ok());
      ++tried;
    }
  EXPECT_GT(tried, 0);
}

/// It waits for the graph of that part all the same, and is done with it when the run is.
TEST(EmulatedGraphs, AreSharedByADeviceWithNothingToDoInAPart) {
  Model model{.name = "placed", .recipe = {.file = "tests/e2e/nets/placed.lnet"}, .classes = 3};
  model.recipe.compile.optimizer = {.name = "adam"};
  const uint64_t want = train(*openSession(compileFor(model, 1, 1), 1), model, 1, kUpdates);
  for (const bool turned : {false, true}) {
    model.recipe.compile.place = {{"low", turned ? "emu:0" : "emu:1"},
                                  {"top", turned ? "emu:1" : "emu:0"}};
    const package::PackageData data = compileFor(model, 2, 2, "emu:");
    const auto &programs = std::ranges::find(data.entries, "step", &package::Entry::name)->programs;
    EXPECT_TRUE(std::ranges::any_of(programs, [](const package::DeviceProgram &program) {
      return program.commit == program.launches.size();
    }));
    EXPECT_EQ(train(*openEmulated(data, 1), model, 1, kUpdates), want) << turned;
  }
}

} // namespace
} // namespace lstmc::e2e
