// A real session in the loop: the hand-made package of the package tests.
#include "executor/training/SessionTrainable.h"

#include "backends/registry/Devices.h"
#include "executor/training/Checkpoint.h"
#include "executor/training/Trainer.h"
#include "tests/executor/data/Files.h"
#include "tests/executor/package/SamplePackage.h"

namespace lstmc::training {
namespace {

struct Model {
  Model() {
    auto package = package::Package::open(package::serialize(package::samplePackage()));
    EXPECT_TRUE(package.ok()) << package.error().text();
    auto devices = makeDevices("cpu", {2, Engine::Fast});
    session = std::move(*Session::create(*package, std::move(*devices)));
    EXPECT_TRUE(session->initialise(1).ok());
    trainable = std::move(*SessionTrainable::create(*session));
  }
  std::unique_ptr<Session> session;
  std::unique_ptr<SessionTrainable> trainable;
};

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

TEST(SessionTrainable, StoppedAndResumedEndsWithTheSameBits) {
  test::TemporaryFolder folder;
  auto data = data::DataSet::load(*data::DataSpec::parse("random:3,batches=7"));
  ASSERT_OK(data);
  TrainOptions options;
  options.fit.learningRate = 1e-3;
  options.after = {20, Amount::Unit::Updates};
  options.folder = folder / "whole";
  TrainObserver nobody;
  Model whole;
  uint64_t begin = whole.session->weightsHash();
  ASSERT_OK(train(*whole.trainable, **data, nullptr, options, nobody));
  EXPECT_NE(whole.session->weightsHash(), begin);
  EXPECT_TRUE(whole.trainable->gradientNorm());

  options.folder = folder / "parts";
  options.after.value = 11;
  Model first;
  ASSERT_OK(train(*first.trainable, **data, nullptr, options, nobody));
  EXPECT_NE(first.session->weightsHash(), whole.session->weightsHash());
  options.after.value = 20;
  options.resume = true;
  Model second;
  ASSERT_OK(train(*second.trainable, **data, nullptr, options, nobody));
  EXPECT_EQ(second.session->weightsHash(), whole.session->weightsHash());
}

TEST(SessionTrainable, WeightsFromAnyFileThatHasThem) {
  test::TemporaryFolder folder;
  Model model, other;
  ASSERT_OK(other.session->initialise(2));
  ASSERT_OK(data::writeSafeTensors(folder / "w", other.trainable->parameters(),
                                   OutputFile::Existing::Keep));
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
