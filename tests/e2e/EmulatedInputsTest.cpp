// Inputs and outputs of emulated GPUs that are copied while a run goes on.
#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "executor/base/Hash.h"
#include "executor/base/Numeric.h"
#include "tests/e2e/EmulatedDevices.h"

namespace lstmc::e2e {
namespace {

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

/// A forward pass has no commit.
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

} // namespace
} // namespace lstmc::e2e
