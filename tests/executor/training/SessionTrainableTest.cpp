// A real session in the training loop, with the package from the package tests.
#include "executor/training/SessionTrainable.h"

#include "backends/registry/Devices.h"
#include "executor/training/FailedUpdate.h"
#include "executor/training/Trainer.h"
#include "tests/executor/data/Files.h"
#include "tests/executor/package/SamplePackage.h"

namespace lstmc::training {
namespace {

struct Model {
  explicit Model(std::string_view device = "cpu") {
    auto package = package::Package::open(package::serialize(package::samplePackage()));
    EXPECT_TRUE(package.ok()) << package.error().text();
    auto devices = makeDevices(device, {2, Engine::Fast});
    session = std::move(*Session::create(*package, std::move(*devices)));
    EXPECT_TRUE(session->initialise(1).ok());
    trainable = std::move(*SessionTrainable::create(*session));
  }
  std::unique_ptr<Session> session;
  std::unique_ptr<SessionTrainable> trainable;
};

/// With a trap, the host cannot see the memory (backends/trap).
class SessionTrainableOn : public testing::TestWithParam<const char *> {};
INSTANTIATE_TEST_SUITE_P(Devices, SessionTrainableOn, testing::Values("cpu", "trap"),
                         [](const testing::TestParamInfo<const char *> &info) {
                           return std::string(info.param);
                         });

TEST(SessionTrainable, NamesWhatThePackageHas) {
  Model model;
  EXPECT_EQ(model.trainable->parameters()[0].name, "w");
  ASSERT_EQ(model.trainable->states().size(), 1u);
  EXPECT_EQ(model.trainable->states()[0].name, "h");
  ASSERT_EQ(model.trainable->heads().size(), 1u);
  auto inputs = model.trainable->inputs(Trainable::Entry::Step);
  ASSERT_OK(inputs);
  ASSERT_EQ(inputs->size(), 1u); // scalars are not among them
  EXPECT_EQ((*inputs)[0].name, "x");
  EXPECT_EQ((*inputs)[0].batchAxis, 0);
  EXPECT_REFUSED(model.trainable->inputs(Trainable::Entry::Evaluate), E0610, "entry evaluate");
}

// The loop would ask step for the value of a head of evaluate, which step does not have.
TEST(SessionTrainable, EntriesMeasureTheSame) {
  package::PackageData data = package::samplePackage();
  package::Entry evaluate = data.entries[package::sample::kStep];
  evaluate.name = "evaluate";
  evaluate.outputs.pop_back();
  evaluate.programs.clear();
  package::Buffer measures = data.buffers[package::sample::kLoss];
  measures.offset = data.devices[0].arenaBytes;
  measures.bytes = 8 * kEvaluationFields;
  measures.shape = {kEvaluationFields};
  data.devices[0].arenaBytes =
      uint64_t(roundUp(int64_t(measures.offset + measures.bytes), kAlignment));
  evaluate.outputs[0].buffer = uint32_t(data.buffers.size());
  data.buffers.push_back(measures);
  data.entries.push_back(evaluate);
  data.entries[package::sample::kStep].outputs.erase(
      data.entries[package::sample::kStep].outputs.begin());
  auto package = package::Package::open(package::serialize(data));
  ASSERT_OK(package);
  auto session = Session::create(*package, std::move(*makeDevices("cpu", {1, Engine::Fast})));
  ASSERT_OK(session);
  EXPECT_REFUSED(SessionTrainable::create(**session), E0605,
                 "entry evaluate: found 1 metrics, want 0 as in step");
}

TEST_P(SessionTrainableOn, StoppedAndResumedEndsWithTheSameBits) {
  test::TemporaryFolder folder;
  auto data = data::DataSet::load(*data::DataSpec::parse("random:3,batches=7"));
  ASSERT_OK(data);
  TrainOptions options;
  options.fit.learningRate = 1e-3;
  options.after = {20, Amount::Unit::Updates};
  options.folder = folder / "whole";
  TrainObserver nobody;
  Model whole(GetParam());
  uint64_t begin = whole.session->weightsHash();
  ASSERT_OK(train(*whole.trainable, **data, nullptr, options, nobody));
  EXPECT_NE(whole.session->weightsHash(), begin);
  EXPECT_TRUE(whole.trainable->gradientNorm());

  options.folder = folder / "parts";
  options.after.value = 11;
  Model first(GetParam());
  ASSERT_OK(train(*first.trainable, **data, nullptr, options, nobody));
  EXPECT_NE(first.session->weightsHash(), whole.session->weightsHash());
  options.after.value = 20;
  options.resume = true;
  Model second(GetParam());
  ASSERT_OK(train(*second.trainable, **data, nullptr, options, nobody));
  EXPECT_EQ(second.session->weightsHash(), whole.session->weightsHash());

  // A checkpoint does not contain the path where it was written.
  options.resume = false;
  options.folder = folder / "cpu";
  Model cpu;
  ASSERT_OK(train(*cpu.trainable, **data, nullptr, options, nobody));
  EXPECT_EQ(cpu.session->weightsHash(), whole.session->weightsHash());
  auto fileOf = [&](const char *run, const char *file) {
    Result<Bytes> bytes = readFileBeneath(folder / run + "/update-000020", file);
    EXPECT_TRUE(bytes.ok()) << run << ", " << file;
    return bytes.ok() ? *bytes : Bytes();
  };
  for (const char *file : {"model.safetensors", "optimizer.safetensors", "states.safetensors"})
    EXPECT_EQ(fileOf("cpu", file), fileOf("whole", file)) << file;
}

TEST_P(SessionTrainableOn, AFailedUpdateFailsAgain) {
  test::TemporaryFolder folder;
  auto data = data::DataSet::load(*data::DataSpec::parse("random:3,batches=7"));
  ASSERT_OK(data);
  TrainOptions options;
  options.fit.learningRate = 1e3; // too large: numbers soon overflow
  options.after = {100, Amount::Unit::Updates};
  options.folder = folder / "ck";
  TrainObserver nobody;
  Model model(GetParam());
  EXPECT_REFUSED(train(*model.trainable, **data, nullptr, options, nobody), E0701, "first ");
  ASSERT_EQ(listFailedUpdates(options.folder).size(), 1u);
  auto kept = readCheckpoint(options.folder + "/" + listFailedUpdates(options.folder)[0].second);
  ASSERT_OK(kept);
  Model again(GetParam());
  auto scalars = restoreUpdate(*kept, *again.trainable);
  ASSERT_OK(scalars);
  EXPECT_EQ(again.session->weightsHash(), model.session->weightsHash());
  EXPECT_EQ(scalars->learningRate, 1e3);
  EXPECT_FALSE(again.trainable->step(*scalars).ok());
  ASSERT_TRUE(again.session->fault());
  EXPECT_EQ(again.session->fault()->message, model.session->fault()->message);
  EXPECT_EQ(again.session->fault()->place.line, model.session->fault()->place.line);
}

TEST_P(SessionTrainableOn, WeightsFromAnyFileThatHasThem) {
  test::TemporaryFolder folder;
  Model model(GetParam()), other(GetParam());
  ASSERT_OK(other.session->initialise(2));
  const std::vector<data::NamedTensor> given{{"w", *other.session->parameter("w")}};
  ASSERT_OK(data::writeSafeTensors(folder / "w", given, OutputFile::Existing::Keep));
  auto file = data::SafeTensors::load(folder / "w");
  ASSERT_OK(file);
  ASSERT_OK(restoreParameters(*file, *model.trainable));
  EXPECT_EQ(model.session->weightsHash(), other.session->weightsHash());
  ASSERT_OK(data::writeSafeTensors(folder / "v", {}, OutputFile::Existing::Keep));
  file = data::SafeTensors::load(folder / "v");
  ASSERT_OK(file);
  EXPECT_REFUSED(restoreParameters(*file, *model.trainable), E0610, "tensor \"w\": found none");
}

} // namespace
} // namespace lstmc::training
