#include <csignal>
#include <functional>
#include <unistd.h>

#include <sys/wait.h>

#include "executor/data/Npz.h"
#include "executor/training/Checkpoint.h"
#include "executor/training/FailedUpdate.h"
#include "executor/training/Interrupts.h"
#include "executor/training/Trainer.h"
#include "tests/executor/base/OwnMemory.h"
#include "tests/executor/data/Files.h"
#include "tests/executor/training/FakeModel.h"

namespace lstmc::training {
namespace {

/// Records what a run logs, to the bit, and may end the run at an update.
class Log : public TrainObserver {
public:
  void tick(const UpdateEvent &event) override {
    if (event.progress.update == stopAt)
      std::raise(stopWith);
  }
  void update(const UpdateEvent &event) override {
    lines.push_back(fmt::format("{} {:a} {:a} {:a} {}", event.progress.update, *event.loss,
                                *event.gradientNorm, event.learningRate, event.labels));
  }
  void valid(const ValidEvent &event) override {
    lines.push_back(
        fmt::format("valid {} {:a} {}", event.progress.update, *event.loss, event.best));
  }
  void save(const SaveEvent &event) override { saves.push_back(event.path); }
  void warning(const Error &error) override { warnings.push_back(error); }
  void end(const EndEvent &event) override { ended = event; }

  int64_t stopAt = -1;
  int stopWith = SIGTERM;
  std::vector<std::string> lines, saves;
  std::vector<Error> warnings;
  EndEvent ended;
};

class Training : public testing::Test {
protected:
  Training() {
    std::string text;
    for (int i = 0; i < 1000; ++i)
      text += char('a' + (i * i + i / 7) % 23);
    data_ = std::move(*data::DataSet::load(
        *data::DataSpec::parse("text:" + test::writeText(folder_ / "t.txt", text) + ",valid=0.1")));
    options_.fit.optimizer = "adam";
    options_.fit.schedule = *Schedule::parse("cosine(max_update=120)");
    options_.after = {120, Amount::Unit::Updates}; // an epoch has 44 updates
    options_.saveEvery = {17, Amount::Unit::Updates};
    options_.validEvery = {0.5, Amount::Unit::Epochs};
    options_.dispEvery = {10, Amount::Unit::Updates};
    options_.seed = 5;
  }
  TrainOptions into(const std::string &name, bool resume = false) const {
    TrainOptions options = options_;
    options.folder = folder_ / name;
    options.resume = resume;
    return options;
  }
  static std::string slotsOf(Trainable &model) {
    return std::string(asText(data::bytesOf(model.slots()[0].tensor)));
  }

  test::TemporaryFolder folder_;
  std::unique_ptr<data::DataSet> data_;
  TrainOptions options_;
};

TEST_F(Training, StoppedAfterAnyUpdateAndResumedEndsWithTheSameBits) {
  FakeModel whole;
  Log wholeLog;
  auto end = train(whole, *data_, nullptr, into("whole"), wholeLog);
  ASSERT_OK(end);
  EXPECT_EQ(end->reason, EndReason::Done);
  EXPECT_EQ(wholeLog.lines.size(), 12u + 5u + 1u);
  for (int64_t stop : {1, 13, 34, 43, 44, 45, 66, 100, 119}) {
    std::string name = fmt::format("stopped-{}", stop);
    FakeModel first;
    Log log;
    log.stopAt = stop;
    auto stopped = train(first, *data_, nullptr, into(name), log);
    ASSERT_OK(stopped);
    EXPECT_EQ(stopped->reason, EndReason::Signal);
    EXPECT_EQ(stopped->signal, SIGTERM);
    EXPECT_EQ(stopped->progress.update, stop);
    FakeModel second;
    log.stopAt = -1;
    ASSERT_OK(train(second, *data_, nullptr, into(name, true), log));
    EXPECT_EQ(second.weightsHash(), whole.weightsHash()) << stop;
    EXPECT_EQ(slotsOf(second), slotsOf(whole)) << stop;
    EXPECT_EQ(log.lines, wholeLog.lines) << stop;
  }
}

// The history of a plateau does not follow from the update, so it is in the checkpoint.
TEST_F(Training, APlateauIsResumed) {
  options_.fit.schedule = *Schedule::parse("plateau(factor=0.5, patience=0, threshold=0.01)");
  options_.validEvery = {5, Amount::Unit::Updates};
  FakeModel whole;
  Log wholeLog;
  ASSERT_OK(train(whole, *data_, nullptr, into("whole"), wholeLog));
  auto last = findCheckpoint(folder_ / "whole");
  ASSERT_OK(last);
  ASSERT_TRUE(last->checkpoint.state.plateau);
  EXPECT_LT(last->checkpoint.state.plateau->scale, 1);
  for (int64_t stop : {4, 25, 61, 118}) {
    std::string name = fmt::format("stopped-{}", stop);
    FakeModel first, second;
    Log log;
    log.stopAt = stop;
    ASSERT_OK(train(first, *data_, nullptr, into(name), log));
    log.stopAt = -1;
    ASSERT_OK(train(second, *data_, nullptr, into(name, true), log));
    EXPECT_EQ(second.weightsHash(), whole.weightsHash()) << stop;
    EXPECT_EQ(log.lines, wholeLog.lines) << stop;
  }

  // The run is ended, which validates once more, and resumed.
  FakeModel first, second;
  Log log;
  TrainOptions options = into("in-parts");
  options.after.value = 52;
  ASSERT_OK(train(first, *data_, nullptr, options, log));
  ASSERT_OK(train(second, *data_, nullptr, into("in-parts", true), log));
  EXPECT_EQ(second.weightsHash(), whole.weightsHash());

  auto data = data::DataSet::load(*data::DataSpec::parse("text:" + (folder_ / "t.txt")));
  ASSERT_OK(data);
  EXPECT_REFUSED(train(whole, **data, nullptr, into("none"), log), E0001, "no data to validate on");
}

TEST(Signals, AWatchWithinAnotherForgetsNothing) {
  const SignalWatch outer;
  ::raise(SIGTERM);
  {
    const SignalWatch inner;
    EXPECT_EQ(SignalWatch::pending(), SIGTERM);
  }
  EXPECT_EQ(SignalWatch::exitCode(), 128 + SIGTERM);
}

volatile std::sig_atomic_t handled = 0;
extern "C" void count(int) { handled = handled + 1; }

TEST(Signals, ASecondInterruptGoesToTheHandlerOfBefore) {
  auto *before = std::signal(SIGINT, count);
  {
    Interrupts outer;
    const SignalWatch inner;
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(handled, std::max(0, i - 1)); // the first one is remembered
      ::raise(SIGINT);
    }
    EXPECT_EQ(SignalWatch::pending(), SIGINT);
    EXPECT_TRUE(Interrupts::pending());
    EXPECT_EQ(outer.end(), SIGINT);
    EXPECT_TRUE(Interrupts::watched());
  }
  EXPECT_FALSE(Interrupts::watched());
  ::raise(SIGINT);
  EXPECT_EQ(handled, 4);
  std::signal(SIGINT, before);
}

TEST(Signals, WatchesOfThreadsPutTheFirstHandlerBackInAnyOrder) {
  auto *before = std::signal(SIGINT, count);
  auto first = std::make_unique<Interrupts>();
  const auto second = std::make_unique<Interrupts>();
  first.reset();
  ::raise(SIGINT); // is remembered by the other one
  EXPECT_EQ(second->end(), SIGINT);
  EXPECT_EQ(std::signal(SIGINT, before), count);
}

TEST_F(Training, AnInterruptDuringTheLastValidationEndsIt) {
  FakeModel model, whole;
  Log log;
  TrainOptions options = into("interrupted");
  int64_t asked = 0;
  options.interrupted = [&] { return ++asked == 2; };
  auto end = train(model, *data_, nullptr, options, log);
  ASSERT_OK(end);
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(end->reason, EndReason::Signal);
  EXPECT_EQ(end->progress.update, 120);
  EXPECT_EQ(log.lines.back().find("valid 120"), std::string::npos);
  EXPECT_EQ(findCheckpoint(folder_ / "interrupted")->checkpoint.state.update, 120);
  // What it goes on from is what one that was not interrupted has.
  options.interrupted = {};
  options.folder = folder_ / "whole";
  ASSERT_OK(train(whole, *data_, nullptr, options, log));
  EXPECT_EQ(model.weightsHash(), whole.weightsHash());
}

class Memory : public TrainObserver {
public:
  void tick(const UpdateEvent &event) override {
    if (event.progress.update == 1000)
      early = test::ownBytes();
    late = test::ownBytes();
  }
  int64_t early = 0, late = 0;
};

TEST_F(Training, MemoryIsFlatOverManyUpdates) {
  FakeModel model;
  Memory memory;
  TrainOptions options = into("flat");
  options.after = {10'000, Amount::Unit::Updates};
  options.saveEvery = {250, Amount::Unit::Updates};
  options.dispEvery = {10, Amount::Unit::Updates};
  ASSERT_OK(train(model, *data_, nullptr, options, memory));
  EXPECT_GT(memory.early, 0);
  // A double stored for each update would take 72 KB; a line for each tenth update much more.
  EXPECT_LE(memory.late, memory.early + 64 * 1024);
}

TEST_F(Training, KilledAndResumed) {
  FakeModel whole;
  Log wholeLog;
  ASSERT_OK(train(whole, *data_, nullptr, into("whole"), wholeLog));
  for (int64_t kill : {20, 35, 51, 52, 90}) {
    std::string name = fmt::format("killed-{}", kill);
    pid_t child = ::fork();
    if (child == 0) {
      FakeModel model;
      Log log;
      log.stopAt = kill;
      log.stopWith = SIGKILL;
      (void)train(model, *data_, nullptr, into(name), log).ok();
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    FakeModel model;
    Log log;
    // If a run is killed before the end of its first save, there is nothing to resume.
    bool resume = !listCheckpoints(folder_ / name).empty();
    ASSERT_OK(train(model, *data_, nullptr, into(name, resume), log));
    EXPECT_EQ(model.weightsHash(), whole.weightsHash());
    EXPECT_TRUE(std::equal(log.lines.rbegin(), log.lines.rend(), wholeLog.lines.rbegin()));
  }
}

TEST_F(Training, ValidationStartsFromZeroAndLeavesTheStatesAlone) {
  FakeModel with, without;
  Log log;
  options_.validEvery = {7, Amount::Unit::Updates};
  ASSERT_OK(train(with, *data_, nullptr, into(""), log));
  options_.validEvery = {1000, Amount::Unit::Updates};
  TrainOptions none = options_;
  ASSERT_OK(train(without, *data_, nullptr, none, log));
  EXPECT_EQ(with.weightsHash(), without.weightsHash());
  auto feed = data_->feed(data::Part::Valid, *with.inputs(Trainable::Entry::Evaluate), 0);
  auto once = evaluate(with, **feed), twice = evaluate(with, **feed);
  EXPECT_EQ(once->totals.value("loss"), twice->totals.value("loss"));
  EXPECT_EQ(once->totals.labels(), double((*feed)->batches() * 20));
}

/// Fills the inputs of the next step in each one; step and evaluate have them in one place.
class FillsAhead final : public FakeModel {
public:
  using FakeModel::step;
  Status step(const StepScalars &scalars, const std::function<bool()> &fillNext) override {
    Status status = step(scalars);
    if (status.ok())
      fillNext();
    return status;
  }
};

TEST_F(Training, InputsFilledAheadTrainToTheSameBits) {
  FakeModel whole;
  FillsAhead ahead;
  Log wholeLog, aheadLog;
  options_.validEvery = {7, Amount::Unit::Updates}; // and epochs end at other updates
  ASSERT_OK(train(whole, *data_, nullptr, into("whole"), wholeLog));
  ASSERT_OK(train(ahead, *data_, nullptr, into("ahead"), aheadLog));
  EXPECT_EQ(ahead.weightsHash(), whole.weightsHash());
  EXPECT_EQ(aheadLog.lines, wholeLog.lines);
}

TEST_F(Training, StopsEarlyAndKeepsTheBest) {
  FakeModel model;
  Log log;
  options_.fit.schedule = {};
  options_.fit.learningRate = 5.0; // far too large: validation soon gets worse
  options_.earlyStop = 2;
  options_.validEvery = {3, Amount::Unit::Updates};
  auto end = train(model, *data_, nullptr, into("early"), log);
  ASSERT_OK(end);
  EXPECT_EQ(end->reason, EndReason::EarlyStop);
  EXPECT_LT(end->progress.update, 120);
  auto best = findCheckpoint(folder_ / "early/best");
  ASSERT_OK(best);
  EXPECT_EQ(best->checkpoint.state.validLoss, end->bestLoss);
}

TEST_F(Training, NonFiniteNumbersPassThrough) {
  FakeModel model;
  model.failAt = 40;
  Log log;
  EXPECT_REFUSED(train(model, *data_, nullptr, into("nan"), log), E0701, "at update 40");
  EXPECT_EQ(log.ended.reason, EndReason::Error);
  EXPECT_EQ(log.ended.progress.update, 39);
  EXPECT_EQ(findCheckpoint(folder_ / "nan")->checkpoint.state.update, 34);
  EXPECT_EQ(log.ended.failedUpdate, folder_ / "nan/nan-40");

  // The kept files contain the update: run again without the fault, it ends with the same bits.
  FakeModel again, whole;
  auto kept = readCheckpoint(folder_ / "nan/nan-40");
  ASSERT_OK(kept);
  auto scalars = restoreUpdate(*kept, again);
  ASSERT_OK(scalars);
  EXPECT_EQ(again.weightsHash(), model.weightsHash());
  EXPECT_EQ(scalars->update, 40);
  ASSERT_OK(again.step(*scalars));
  TrainOptions until = options_;
  until.after.value = 40;
  ASSERT_OK(train(whole, *data_, nullptr, until, log));
  EXPECT_EQ(again.weightsHash(), whole.weightsHash());
  EXPECT_EQ(slotsOf(again), slotsOf(whole));

  // It is never resumed from, but the one beside it is.
  EXPECT_REFUSED(train(again, *data_, nullptr, into("nan/nan-40", true), log), E0610,
                 "an update that failed");
  FakeModel resumed, all;
  ASSERT_OK(train(resumed, *data_, nullptr, into("nan", true), log));
  ASSERT_OK(train(all, *data_, nullptr, options_, log));
  EXPECT_EQ(resumed.weightsHash(), all.weightsHash());
}

TEST_F(Training, ReplicasAreComparedWhenAsked) {
  Log log;
  FakeModel unasked, asked, wrong;
  ASSERT_OK(train(unasked, *data_, nullptr, options_, log));
  EXPECT_TRUE(unasked.comparedAt.empty());
  TrainOptions options = into("replicas");
  options.after.value = 35;
  options.checkReplicas = 10;
  ASSERT_OK(train(asked, *data_, nullptr, options, log));
  EXPECT_EQ(asked.comparedAt, (std::vector<int64_t>{10, 20, 30}));

  // Copies that differ are not saved.
  options.folder = folder_ / "differ";
  options.saveEvery = {5, Amount::Unit::Updates};
  wrong.differFrom = 13;
  EXPECT_REFUSED(train(wrong, *data_, nullptr, options, log), E0702,
                 "weight differs after update 20");
  EXPECT_EQ(log.ended.reason, EndReason::Error);
  EXPECT_EQ(findCheckpoint(folder_ / "differ")->checkpoint.state.update, 15);
  EXPECT_EQ(log.ended.failedUpdate, "");
}

TEST_F(Training, AFailedUpdateThatCannotBeKeptIsAWarning) {
  FakeModel model;
  model.failAt = 3;
  Log log;
  TrainOptions options = into("full");
  options.fault = [](std::string_view, const std::string &path) -> Status {
    return failAt({path}, ErrorCode::E0601, "No space left on device");
  };
  EXPECT_REFUSED(train(model, *data_, nullptr, options, log), E0701, "at update 3");
  EXPECT_EQ(log.ended.failedUpdate, "");
  EXPECT_EQ(log.warnings.size(), 1u);
  model.behindCommit = true;
  EXPECT_REFUSED(train(model, *data_, nullptr, into("changed"), log), E0701, "at update 3");
  EXPECT_EQ(log.ended.failedUpdate, "");
  EXPECT_TRUE(listFailedUpdates(folder_ / "changed").empty());
}

TEST_F(Training, AFailedUpdateNeedsAllItsArrays) {
  FakeModel model;
  model.failAt = 3;
  Log log;
  EXPECT_REFUSED(train(model, *data_, nullptr, into("nan"), log), E0701, "");
  auto kept = readCheckpoint(folder_ / "nan/nan-3");
  ASSERT_OK(kept);
  Bytes &file = kept->attachments.at(std::string(kUpdateFile));
  auto arrays = data::parseNpz(file, "update.npz");
  ASSERT_OK(arrays);
  ASSERT_EQ(arrays->size(), 5u);
  std::vector<data::NamedTensor> tensors;
  for (data::NamedArray &array : *arrays)
    tensors.push_back({array.name, array.array.tensor()});
  auto refused = [&](std::vector<data::NamedTensor> with, std::string_view message) {
    file = *data::npzBytes(with);
    EXPECT_REFUSED(restoreUpdate(*kept, model), E0610, message);
  };
  auto changed = tensors;
  changed.pop_back();
  refused(changed, "arrays: found 4, want the 5");
  changed = tensors;
  changed[1].name = "lable";
  refused(changed, "array \"label\": found none");
  changed = tensors;
  std::swap(changed[0].tensor, changed[2].tensor);
  refused(changed, "array \"data\": found f64 [], want i32 [4, 5]");
}

TEST_F(Training, FailedSavesAreWarningsUntilTheLast) {
  FakeModel model;
  Log log;
  TrainOptions options = into("full");
  int creates = 0;
  options.fault = [&](std::string_view step, const std::string &path) -> Status {
    if (step == "reserve" && creates++ < 3)
      return failAt({path}, ErrorCode::E0601, "cannot reserve: No space left on device");
    return {};
  };
  auto end = train(model, *data_, nullptr, options, log);
  ASSERT_OK(end);
  EXPECT_EQ(log.warnings.size(), 3u);
  EXPECT_EQ(findCheckpoint(folder_ / "full")->checkpoint.state.update, 120);
  options.folder = folder_ / "fuller";
  creates = -1000000;
  FakeModel again;
  EXPECT_REFUSED(train(again, *data_, nullptr, options, log), E0601, "No space left");
}

TEST_F(Training, ResumeRefusesOtherDataAndSeeds) {
  FakeModel model;
  Log log;
  options_.after = {20, Amount::Unit::Updates};
  ASSERT_OK(train(model, *data_, nullptr, into("ck"), log));
  EXPECT_REFUSED(train(model, *data_, nullptr, into("ck"), log), E0608, "--resume");
  options_.seed = 6;
  EXPECT_REFUSED(train(model, *data_, nullptr, into("ck", true), log), E0610,
                 "seed: found 5, want 6");
  options_.seed = 5;
  auto other = data::DataSet::load(*data::DataSpec::parse(
      "text:" + test::writeText(folder_ / "u.txt", std::string(1000, 'x')) + ",valid=0.1"));
  EXPECT_REFUSED(train(model, **other, nullptr, into("ck", true), log), E0610,
                 "data: found sha256");
  EXPECT_REFUSED(train(model, *data_, nullptr, into("none", true), log), E0601,
                 "no good checkpoint");
  TrainOptions replace = into("ck");
  replace.overwrite = true;
  replace.after = {5, Amount::Unit::Updates};
  ASSERT_OK(train(model, *data_, nullptr, replace, log));
  EXPECT_EQ(listCheckpoints(folder_ / "ck").size(), 1u);
}

} // namespace
} // namespace lstmc::training
