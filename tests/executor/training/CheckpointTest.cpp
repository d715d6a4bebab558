#include <unistd.h>

#include <sys/wait.h>

#include <gmock/gmock.h>

#include "executor/base/Sha256.h"
#include "executor/training/Checkpoint.h"
#include "executor/training/CheckpointWriter.h"
#include "executor/training/FailedUpdate.h"
#include "executor/training/Trainer.h"
#include "tests/executor/data/Files.h"
#include "tests/executor/training/FakeModel.h"

namespace lstmc::training {
namespace {

CheckpointState stateAt(int64_t update, Trainable &model) {
  CheckpointState state;
  state.version = "lstmc 0.1.0 (def)";
  state.identity = model.identity();
  state.optimizer = "adam";
  state.update = update;
  state.bestLoss = 1.0 / 3;
  state.running = {{0.1, 2, 0, 1}};
  return state;
}

using Writer = std::unique_ptr<CheckpointWriter>;

Result<Writer> openWriter(const std::string &folder, FaultHook fault = {}, int keep = 3) {
  return CheckpointWriter::open({folder,
                                 keep,
                                 0,
                                 CheckpointWriter::Options::Existing::GoOn,
                                 {{"vocab.txt", "a\nb\n"}},
                                 std::move(fault)});
}

TEST(Checkpoint, ComesBackBitForBit) {
  test::TemporaryFolder folder;
  FakeModel model;
  model.parameters()[0].tensor.as<float>()[1] = -0.0f;
  auto writer = openWriter(folder / "ck");
  ASSERT_OK(writer);
  CheckpointState state = stateAt(7, model);
  state.position = {2, 5};
  state.scaling = "[]";
  (*writer)->save(state, model, true);
  auto saved = (*writer)->finished(true);
  ASSERT_EQ(saved.size(), 1u);
  ASSERT_OK(saved[0]);
  EXPECT_EQ(saved[0]->path, folder / "ck/update-000007");
  for (const char *name : {"ck", "ck/last", "ck/best", "ck/update-000007"}) {
    auto found = findCheckpoint(folder / name);
    ASSERT_OK(found);
    const CheckpointState &read = found->checkpoint.state;
    EXPECT_EQ(read.update, 7);
    EXPECT_EQ(read.position.epoch, 2);
    EXPECT_EQ(read.position.batch, 5);
    EXPECT_EQ(read.bestLoss, 1.0 / 3);
    EXPECT_EQ(read.running, state.running);
    EXPECT_EQ(asText(found->checkpoint.attachments.at("vocab.txt")), "a\nb\n");
    FakeModel other;
    ASSERT_OK(restore(found->checkpoint, "adam", other));
    EXPECT_EQ(other.weightsHash(), model.weightsHash());
  }
}

TEST(Checkpoint, OfAnotherModel) {
  test::TemporaryFolder folder;
  FakeModel model;
  auto writer = openWriter(folder / "ck");
  (*writer)->save(stateAt(1, model), model, false);
  (*writer)->finished(true);
  auto found = findCheckpoint(folder / "ck");
  ASSERT_OK(found);
  EXPECT_REFUSED(restore(found->checkpoint, "sgd", model), E0610,
                 "optimizer: found \"adam\", want \"sgd\"");
  FakeModel other;
  other.graphHash = "def";
  EXPECT_REFUSED(restore(found->checkpoint, "adam", other), E0610,
                 "graph_hash: found \"abc\", want \"def\": the source, its settings or its shapes");
  // Of tensors of another shape or type.
  struct Other : FakeModel {
    std::vector<StoredTensor> parameters() override {
      std::vector<StoredTensor> all = FakeModel::parameters();
      if (otherType)
        all[0].tensor.dtype = DType::I32;
      else
        all[0].tensor.shape[0] /= 2;
      return all;
    }
    bool otherType = false;
  } changed;
  EXPECT_REFUSED(restore(found->checkpoint, "adam", changed), E0610,
                 "tensor \"weight\": found f32 [64], want f32 [32]");
  changed.otherType = true;
  EXPECT_REFUSED(restore(found->checkpoint, "adam", changed), E0610,
                 "tensor \"weight\": found f32 [64], want i32 [64]");
}

TEST(Checkpoint, OfAnotherReleaseHasAnotherDigestOfItsNetwork) {
  test::TemporaryFolder folder;
  FakeModel model, other;
  other.graphHash = "def";
  for (const char *version : {"lstmc 0.1.9 (abc)", "lstmc 0.11.0 (abc)"}) {
    CheckpointState state = stateAt(1, model);
    state.version = version;
    auto writer = openWriter(folder / version);
    (*writer)->save(state, model, false);
    (*writer)->finished(true);
    auto found = findCheckpoint(folder / version);
    ASSERT_OK(found);
    const bool same = std::string_view(version) == "lstmc 0.1.9 (abc)";
    EXPECT_EQ(hasOtherDigests(found->checkpoint, other.identity()), !same);
    EXPECT_EQ(restore(found->checkpoint, "adam", other).ok(), !same) << version;
  }
}

TEST(Checkpoint, EveryByteCounts) {
  test::TemporaryFolder folder;
  FakeModel model;
  auto writer = openWriter(folder / "ck");
  (*writer)->save(stateAt(1, model), model, false);
  (*writer)->finished(true);
  std::string checkpoint = folder / "ck/update-000001";
  for (const char *name : {"model.safetensors", "optimizer.safetensors", "states.safetensors",
                           "vocab.txt", "state.json"}) {
    std::string path = checkpoint + "/" + name, good = test::readText(path);
    for (size_t at = 0; at < good.size(); at += good.size() / 200 + 1) {
      std::string bad = good;
      bad[at] = char(bad[at] ^ (1 << at % 8));
      test::writeText(path, bad);
      auto read = readCheckpoint(checkpoint);
      EXPECT_FALSE(read.ok()) << name << " byte " << at;
      test::writeText(path, good.substr(0, at));
      EXPECT_FALSE(readCheckpoint(checkpoint).ok()) << name << " truncated to " << at;
    }
    std::filesystem::remove(path);
    EXPECT_REFUSED(readCheckpoint(checkpoint), E0601, name);
    std::filesystem::create_directory(path);
    EXPECT_REFUSED(readCheckpoint(checkpoint), E0601, "found a folder, want a file");
    std::filesystem::remove(path);
    std::filesystem::create_symlink("/dev/zero", path);
    EXPECT_REFUSED(readCheckpoint(checkpoint), E0601, name);
    std::filesystem::remove(path);
    test::writeText(path, good);
    ASSERT_OK(readCheckpoint(checkpoint));
  }
}

/// `text` with its last line replaced by the correct digest.
std::string sealed(std::string text) {
  text.erase(text.rfind(",\n \"manifest_sha256\""));
  std::string digest = sha256(asBytes(text + "\n}"));
  return text + ",\n \"manifest_sha256\": \"" + digest + "\"\n}\n";
}

TEST(Checkpoint, SealedAndWrongAllTheSame) {
  FakeModel model;
  auto refusal = [](const std::string &text) {
    auto read = CheckpointState::parse(text, "s");
    return read.ok() ? "accepted" : read.error().text();
  };
  CheckpointState state = stateAt(3, model);
  EXPECT_EQ(refusal(sealed(state.text())), "accepted");
  std::string other = state.text();
  other.replace(other.find("lstmc.checkpoint/1"), 18, "lstmc.checkpoint/9");
  EXPECT_EQ(refusal(sealed(other)), "s: error[E0603]: schema: found \"lstmc.checkpoint/9\", want "
                                    "lstmc.checkpoint/1");
  auto with = [&](auto change) {
    CheckpointState changed = state;
    change(changed);
    return refusal(changed.text());
  };
  EXPECT_EQ(
      with([](CheckpointState &s) { s.bestUpdate = 4; }),
      "s: error[E0604]: progress.best_update: found 4, want at most the 3 of progress.update");
  EXPECT_EQ(with([](CheckpointState &s) { s.position.epoch = 4; }),
            "s: error[E0604]: progress.epoch: found 4, want at most the 3 of progress.update");
  EXPECT_EQ(with([](CheckpointState &s) { s.runningUpdates = 9; }),
            "s: error[E0604]: numbers.running_updates: found 9, want at most the 3 of "
            "progress.update");
  EXPECT_EQ(with([](CheckpointState &s) {
              s.update = 0;
              s.samples = 5;
            }),
            "s: error[E0604]: progress.samples: found 5 before the first update");
  EXPECT_EQ(with([](CheckpointState &s) { s.identity.shards = UINT32_MAX; }), "accepted");
  EXPECT_EQ(with([](CheckpointState &s) { s.identity.shards = 0; }),
            "s: error[E0604]: shards: found 0, want an integer from 1");
  std::string without = state.text();
  without.replace(without.find("\"running_updates\""), 17, "\"walking_updates\"");
  EXPECT_EQ(refusal(sealed(without)),
            "s: error[E0604]: numbers.running_updates: found nothing, want this field");
  std::string cut = state.text();
  const size_t running = cut.find('[', cut.find("\"running\""));
  cut.replace(cut.find('[', running + 1), 1, "[\"0x1p+0\",");
  EXPECT_THAT(refusal(sealed(cut)), testing::HasSubstr("want six hex floats a head"));
}

TEST(Checkpoint, TheUnitOfAText) {
  FakeModel model;
  CheckpointState state = stateAt(1, model);
  EXPECT_EQ(CheckpointState::parse(state.text(), "s")->unit, std::nullopt);
  state.unit = data::TextUnit::Word;
  std::string text = state.text();
  EXPECT_EQ(CheckpointState::parse(text, "s")->unit, data::TextUnit::Word);
  std::string wrong = text, old = text;
  wrong.replace(wrong.find("\"word\""), 6, "\"line\"");
  EXPECT_REFUSED(CheckpointState::parse(sealed(wrong), "s"), E0604,
                 "s: error[E0604]: progress.unit: found \"line\", want char, word or byte");
  size_t at = old.find("  \"unit\"");
  old.erase(at, old.find('\n', at) + 1 - at);
  EXPECT_EQ(CheckpointState::parse(sealed(old), "s")->unit, std::nullopt);
}

TEST(Checkpoint, MixedAndPassedOver) {
  test::TemporaryFolder folder;
  FakeModel model;
  auto writer = openWriter(folder / "ck");
  for (int64_t update : {1, 2}) {
    (*writer)->save(stateAt(update, model), model, false);
    model.parameters()[0].tensor.as<float>()[0] += 1;
  }
  (*writer)->finished(true);
  std::filesystem::copy_file(folder / "ck/update-000001/model.safetensors",
                             folder / "ck/update-000002/model.safetensors",
                             std::filesystem::copy_options::overwrite_existing);
  auto found = findCheckpoint(folder / "ck");
  ASSERT_OK(found);
  EXPECT_EQ(found->checkpoint.state.update, 1);
  ASSERT_EQ(found->passedOver.size(), 1u);
  EXPECT_EQ(found->passedOver[0].code, ErrorCode::E0609);
  std::filesystem::rename(folder / "ck/update-000001", folder / "ck/update-000009");
  EXPECT_REFUSED(findCheckpoint(folder / "ck"), E0601, "update: found 1, want 9");
}

TEST(Checkpoint, KeepsTheNewestAndTheBest) {
  test::TemporaryFolder folder;
  FakeModel model;
  auto writer = openWriter(folder / "ck", {}, 2);
  for (int64_t update = 1; update <= 6; ++update) {
    (*writer)->save(stateAt(update, model), model, update == 2);
    for (const auto &result : (*writer)->finished(true))
      ASSERT_OK(result);
  }
  std::vector<int64_t> kept;
  for (const auto &[update, name] : listCheckpoints(folder / "ck"))
    kept.push_back(update);
  EXPECT_EQ(kept, (std::vector<int64_t>{6, 5, 2}));
  EXPECT_EQ(std::filesystem::read_symlink(folder / "ck/best"), "update-000002");
  EXPECT_REFUSED(openWriter(folder / "ck"), E0601, "another process");
  writer->reset();
  EXPECT_REFUSED(CheckpointWriter::open(
                     {folder / "ck", 3, 0, CheckpointWriter::Options::Existing::Refuse, {}, {}}),
                 E0608, "update-000006");
}

TEST(Checkpoint, KeepsTheFirstOfEveryTenUpdatesForGood) {
  test::TemporaryFolder folder;
  FakeModel model;
  auto writer = CheckpointWriter::open(
      {folder / "ck", 1, 10, CheckpointWriter::Options::Existing::GoOn, {}, {}});
  ASSERT_OK(writer);
  for (int64_t update = 4; update <= 40; update += 4) {
    (*writer)->save(stateAt(update, model), model, false);
    for (const auto &result : (*writer)->finished(true))
      ASSERT_OK(result);
  }
  std::vector<int64_t> kept;
  for (const auto &[update, name] : listCheckpoints(folder / "ck"))
    kept.push_back(update);
  EXPECT_EQ(kept, (std::vector<int64_t>{40, 32, 20, 12}));
}

TEST(Checkpoint, AFailedUpdateIsNone) {
  using Existing = CheckpointWriter::Options::Existing;
  test::TemporaryFolder folder;
  FakeModel model;
  Bytes update{1, 2, 3};
  auto writer = openWriter(folder / "ck", {}, 1);
  (*writer)->save(stateAt(6, model), model, true);
  (*writer)->saveFailed(stateAt(7, model), model, {update});
  auto saved = (*writer)->finished(true);
  ASSERT_EQ(saved.size(), 2u);
  ASSERT_OK(saved[1]);
  EXPECT_EQ(saved[1]->path, folder / "ck/nan-8");
  EXPECT_EQ(std::filesystem::read_symlink(folder / "ck/last"), "update-000006");
  EXPECT_EQ(findCheckpoint(folder / "ck")->checkpoint.state.update, 6);
  EXPECT_FALSE(isFailedUpdate(findCheckpoint(folder / "ck")->checkpoint));
  auto read = readCheckpoint(folder / "ck/nan-8");
  ASSERT_OK(read);
  EXPECT_TRUE(isFailedUpdate(*read));
  EXPECT_EQ(read->state.update, 7);
  EXPECT_EQ(read->attachments.at(std::string(kUpdateFile)), update);

  // An existing checkpoint is replaced as a whole, by this run or the next.
  model.parameters()[0].tensor.as<float>()[0] = 42;
  update.push_back(4);
  (*writer)->saveFailed(stateAt(7, model), model, {update});
  for (const auto &result : (*writer)->finished(true))
    ASSERT_OK(result);
  read = readCheckpoint(folder / "ck/nan-8");
  ASSERT_OK(read);
  EXPECT_EQ(read->attachments.at(std::string(kUpdateFile)), update);

  // It is removed with the run that made it; alone it is not the result of an earlier run.
  writer->reset();
  std::filesystem::rename(folder / "ck/nan-8", folder / "kept");
  std::filesystem::remove_all(folder / "ck");
  std::filesystem::create_directory(folder / "ck");
  std::filesystem::rename(folder / "kept", folder / "ck/nan-8");
  EXPECT_REFUSED(findCheckpoint(folder / "ck"), E0601, "found no good checkpoint");
  ASSERT_OK(CheckpointWriter::open({folder / "ck", 3, 0, Existing::Refuse, {}, {}}));
  auto fresh = CheckpointWriter::open({folder / "ck", 3, 0, Existing::Replace, {}, {}});
  ASSERT_OK(fresh);
  EXPECT_TRUE(std::filesystem::exists(folder / "ck/nan-8"));
  (*fresh)->save(stateAt(1, model), model, false);
  for (const auto &result : (*fresh)->finished(true))
    ASSERT_OK(result);
  EXPECT_FALSE(std::filesystem::exists(folder / "ck/nan-8"));
}

/// Steps of a save that has an older checkpoint to remove.
int stepsOfASave() {
  test::TemporaryFolder folder;
  FakeModel model;
  int steps = 0;
  auto writer = openWriter(
      folder / "ck",
      [&](std::string_view, const std::string &) -> Status {
        ++steps;
        return {};
      },
      1);
  for (int64_t update : {1, 2}) {
    steps = 0;
    (*writer)->save(stateAt(update, model), model, true);
    (*writer)->finished(true);
  }
  return steps;
}

TEST(Checkpoint, TornAtEveryStep) {
  int steps = stepsOfASave();
  EXPECT_GT(steps, 20);
  for (int torn = 0; torn <= steps; ++torn) {
    test::TemporaryFolder folder;
    FakeModel old, fresh;
    fresh.parameters()[0].tensor.as<float>()[0] = 42;
    {
      auto writer = openWriter(folder / "ck", {}, 1);
      (*writer)->save(stateAt(1, old), old, true);
      (*writer)->finished(true);
    }
    pid_t child = ::fork();
    if (child == 0) {
      int step = 0;
      auto writer = openWriter(
          folder / "ck",
          [&](std::string_view, const std::string &) -> Status {
            if (step++ == torn)
              ::_exit(0);
            return {};
          },
          1);
      (*writer)->save(stateAt(2, fresh), fresh, true);
      (*writer)->finished(true);
      ::_exit(0);
    }
    ::waitpid(child, nullptr, 0);
    auto found = findCheckpoint(folder / "ck");
    ASSERT_OK(found);
    EXPECT_TRUE(found->passedOver.empty()) << found->passedOver[0].text();
    FakeModel read;
    ASSERT_OK(restore(found->checkpoint, "adam", read));
    EXPECT_EQ(read.weightsHash(),
              (found->checkpoint.state.update == 2 ? fresh : old).weightsHash());
    // The next run cleans up, and `last` names a complete checkpoint again.
    auto writer = openWriter(folder / "ck", {}, 1);
    ASSERT_OK(writer);
    (*writer)->save(stateAt(3, fresh), fresh, true);
    for (const auto &result : (*writer)->finished(true))
      ASSERT_OK(result);
    int entries = 0;
    for ([[maybe_unused]] const auto &entry : std::filesystem::directory_iterator(folder / "ck"))
      ++entries;
    EXPECT_EQ(entries, 3); // update-000003, last, best
  }
}

TEST(Checkpoint, AFailedUpdateTornAtEveryStepIsWholeOrNotThere) {
  FakeModel old, fresh;
  fresh.parameters()[0].tensor.as<float>()[0] = 42;
  bool before = false, after = false;
  for (int torn = 0; !after; ++torn) {
    ASSERT_LT(torn, 100);
    test::TemporaryFolder folder;
    {
      auto writer = openWriter(folder / "ck");
      (*writer)->saveFailed(stateAt(1, old), old, {{1}});
      (*writer)->finished(true);
    }
    pid_t child = ::fork();
    if (child == 0) {
      int step = 0;
      auto writer = openWriter(folder / "ck", [&](std::string_view, const std::string &) -> Status {
        if (step++ == torn)
          ::_exit(0);
        return {};
      });
      (*writer)->saveFailed(stateAt(1, fresh), fresh, {{2, 3}});
      (*writer)->finished(true);
      ::_exit(1); // it was not torn
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    after = WEXITSTATUS(status) == 1;
    auto read = readCheckpoint(folder / "ck/nan-2");
    ASSERT_OK(read);
    FakeModel model;
    ASSERT_OK(restore(*read, "adam", model));
    bool isNew = read->attachments.at(std::string(kUpdateFile)).size() == 2;
    EXPECT_EQ(model.weightsHash(), (isNew ? fresh : old).weightsHash());
    before |= !isNew;
    EXPECT_TRUE(isNew || !after);
    ASSERT_OK(openWriter(folder / "ck"));
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder / "ck"), {}), 1);
  }
  EXPECT_TRUE(before);
}

TEST(Checkpoint, FailedAtEveryStep) {
  int steps = stepsOfASave();
  for (int failing = 0; failing < steps; ++failing) {
    test::TemporaryFolder folder;
    FakeModel model;
    int step = -1000;
    auto writer = openWriter(
        folder / "ck",
        [&](std::string_view name, const std::string &path) -> Status {
          if (step++ == failing)
            return failAt({path}, ErrorCode::E0601, "cannot {}: No space left on device", name);
          return {};
        },
        1);
    (*writer)->save(stateAt(1, model), model, true);
    for (const auto &result : (*writer)->finished(true))
      ASSERT_OK(result);
    step = 0;
    (*writer)->save(stateAt(2, model), model, true);
    auto results = (*writer)->finished(true);
    bool told = false, saved = false;
    for (const auto &result : results) {
      told |= !result.ok();
      saved |= result.ok();
    }
    EXPECT_TRUE(told) << failing;
    auto found = findCheckpoint(folder / "ck");
    ASSERT_OK(found);
    // "Saved" is never reported for a failed save; a complete checkpoint may exist whose last sync
    // failed.
    if (saved) {
      EXPECT_EQ(found->checkpoint.state.update, 2);
    }
    ASSERT_OK(findCheckpoint(folder / "ck/last"));
  }
}

} // namespace
} // namespace lstmc::training
