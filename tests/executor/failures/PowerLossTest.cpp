// The power fails at any moment of a save. Whichever of the calls that are not yet synced have
// reached the disk, it has the old checkpoint or the new one, complete.
#include <filesystem>
#include <functional>
#include <set>

#include "executor/training/Checkpoint.h"
#include "executor/training/CheckpointWriter.h"
#include "tests/executor/data/Files.h"
#include "tests/executor/failures/DiskRecord.h"
#include "tests/executor/training/FakeModel.h"

namespace lstmc::test {
namespace {

namespace fs = std::filesystem;
using training::CheckpointWriter;
using training::FakeModel;
using Existing = CheckpointWriter::Options::Existing;

/// Everything that a reader sees, as text. Hidden names belong to unfinished saves, which the next
/// run removes.
std::string visible(const Disk &disk, Node node, bool top = true) {
  if (auto file = disk.files.find(node); file != disk.files.end())
    return fmt::format("f{}:{}", file->second.size(), file->second);
  if (auto link = disk.links.find(node); link != disk.links.end())
    return "l" + link->second;
  std::string text = "d(";
  if (auto folder = disk.folders.find(node); folder != disk.folders.end())
    for (const auto &[name, child] : folder->second)
      if (!top || !name.starts_with('.'))
        text += name + "=" + visible(disk, child, false) + ",";
  return text + ")";
}

void write(const Disk &disk, Node node, const fs::path &to, bool top = true) {
  if (auto file = disk.files.find(node); file != disk.files.end()) {
    writeText(to.string(), file->second);
  } else if (auto link = disk.links.find(node); link != disk.links.end()) {
    fs::create_symlink(link->second, to);
  } else {
    fs::create_directory(to);
    if (auto folder = disk.folders.find(node); folder != disk.folders.end())
      for (const auto &[name, child] : folder->second)
        if (!top || !name.starts_with('.'))
          write(disk, child, to / name, false);
  }
}

struct Save {
  Save() {
    state.identity = model.identity();
    state.optimizer = "adam";
    state.running = {{0.1, 2, 0, 1}};
  }
  void open(int keep, Existing existing = Existing::GoOn) {
    writer = std::move(
        *CheckpointWriter::open({folder / "ck", keep, 0, existing, {{"vocab.txt", "a\nb\n"}}, {}}));
  }
  uint64_t save(int64_t update) {
    state.update = update;
    model.parameters()[0].tensor.as<float>()[0] += 1;
    writer->save(state, model, true);
    for (const auto &result : writer->finished(true))
      EXPECT_TRUE(result.ok()) << result.error().text();
    return model.weightsHash();
  }
  TemporaryFolder folder;
  FakeModel model;
  training::CheckpointState state;
  std::unique_ptr<CheckpointWriter> writer;
};

/// Calls `look` once for every state that a power loss during the calls may leave. Returns the
/// number of states that a reader can tell apart.
size_t everyState(const DiskRecord &record, const std::function<void(const Disk &)> &look) {
  std::set<std::string> seen;
  for (size_t count = 0; count <= record.calls.size(); ++count) {
    std::vector<size_t> loose = record.unsynced(count);
    EXPECT_LE(loose.size(), 16u) << "too many to try them all";
    for (uint64_t subset = 0; subset < uint64_t(1) << loose.size(); ++subset) {
      Disk disk = record.before;
      size_t next = 0;
      for (size_t i = 0; i < count; ++i) {
        bool isLoose = next < loose.size() && loose[next] == i;
        if (!isLoose || subset >> next & 1)
          disk.apply(record.calls[i]);
        next += isLoose;
      }
      if (seen.insert(visible(disk, DiskRecord::kRoot)).second)
        look(disk);
    }
  }
  return seen.size();
}

/// Every state after `work` on a folder is a checkpoint with one of these weights; both occur.
void expectOldOrNew(Save &save, uint64_t old, const std::function<uint64_t()> &work) {
  std::unique_ptr<DiskRecord> record =
      std::make_unique<DiskRecord>(fs::canonical(save.folder / "ck").string());
  uint64_t fresh = work();
  save.writer.reset();
  TemporaryFolder after;
  std::set<uint64_t> met;
  int number = 0;
  size_t states = everyState(*record, [&](const Disk &disk) {
    std::string folder = after / std::to_string(number++);
    write(disk, DiskRecord::kRoot, folder);
    auto found = training::findCheckpoint(folder);
    ASSERT_TRUE(found.ok()) << found.error().text();
    FakeModel read;
    ASSERT_OK(training::restore(found->checkpoint, "adam", read));
    uint64_t hash = read.weightsHash();
    EXPECT_TRUE(hash == old || hash == fresh);
    met.insert(hash);
    // If a link leads anywhere, it leads to a complete checkpoint.
    for (const char *link : {"last", "best"}) {
      if (fs::exists(folder + "/" + link))
        ASSERT_OK(training::readCheckpoint(folder + "/" + link));
    }
    fs::remove_all(folder);
  });
  EXPECT_EQ(met, (std::set<uint64_t>{old, fresh}));
  EXPECT_GE(states, 2u);
  testing::Test::RecordProperty("calls", int(record->calls.size()));
  testing::Test::RecordProperty("states", int(states));
}

TEST(PowerLoss, ASaveLeavesTheOldCheckpointOrTheNew) {
  Save save;
  save.open(3);
  uint64_t old = save.save(1);
  expectOldOrNew(save, old, [&] { return save.save(2); });
}

TEST(PowerLoss, AlsoWhereTheOldOneIsRemovedThen) {
  Save save;
  save.open(1);
  uint64_t old = save.save(1);
  expectOldOrNew(save, old, [&] { return save.save(2); });
}

TEST(PowerLoss, AlsoWhereItHasTheSameName) {
  Save save;
  save.open(3);
  uint64_t old = save.save(1);
  expectOldOrNew(save, old, [&] { return save.save(1); });
}

TEST(PowerLoss, AlsoWhereAnEarlierRunIsReplaced) {
  Save save;
  save.open(3);
  uint64_t old = save.save(5);
  save.writer.reset();
  save.open(3, Existing::Replace);
  expectOldOrNew(save, old, [&] { return save.save(1); });
}

} // namespace
} // namespace lstmc::test
