// Every allocation and every start of a thread fails in turn, in load, bind, update and save. The
// result has to be an error with its exit code, no leak, no remaining thread, no abort, and the old
// checkpoint unchanged.
#include <fstream>
#include <functional>
#include <new>

#include "executor/base/NoMemory.h"
#include "executor/training/Checkpoint.h"
#include "executor/training/CheckpointWriter.h"
#include "tests/executor/data/Files.h"
#include "tests/executor/failures/ThreadStarts.h"
#include "tests/executor/loaders/Allocations.h"
#include "tests/executor/session/DeviceSession.h"
#include "tests/executor/training/FakeModel.h"

namespace lstmc::test {
namespace {

using training::CheckpointWriter;
using training::FakeModel;
using Existing = CheckpointWriter::Options::Existing;

/// The outcome in a program, whose own handler catches an exception that no function has turned
/// into an error.
Status outcome(const std::function<Status()> &work) try {
  return work();
} catch (const std::bad_alloc &) {
  return Error{ErrorCode::E0901, "out of memory", {}};
}

/// Calls `work` with allocation 0, 1, 2, ... failing, until none fails; returns the number of
/// allocations. `afterEach` checks the result of each call.
int64_t failEveryAllocation(
    const std::function<Status()> &work, const std::function<void()> &afterEach = [] {}) {
  EXPECT_TRUE(outcome(work).ok()); // makes what is allocated once per process
  for (int64_t k = 0;; ++k) {
    Allocated before = allocated();
    bool failed = false;
    {
      failAllocation(k, Failing::Once);
      Status status = outcome(work);
      failed = endFailing();
      if (!status.ok()) {
        EXPECT_TRUE(failed) << status.error().text();
        EXPECT_NE(status.error().text().find("memory"), std::string::npos) << status.error().text();
      }
    }
    EXPECT_EQ(allocated().count, before.count) << "allocation " << k;
    afterEach();
    if (!failed || testing::Test::HasFailure())
      return k;
  }
}

int threadCount() {
  std::ifstream file("/proc/self/status");
  for (std::string word; file >> word;)
    if (word == "Threads:") {
      int count = 0;
      file >> count;
      return count;
    }
  return 0;
}

/// The system may count a joined thread for a moment.
bool threadsComeTo(int wanted) {
  auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (threadCount() != wanted)
    if (std::chrono::steady_clock::now() > until)
      return false;
  return true;
}

/// The same for threads. Every thread is needed, so every failure is an error. `names` are the
/// texts of the errors in order of the threads.
void failEveryThread(const std::vector<std::string> &names, const std::function<Status()> &work) {
  const int threads = threadCount();
  for (size_t k = 0; k <= names.size(); ++k) {
    failThreadStart(int64_t(k));
    Status status = outcome(work);
    ASSERT_EQ(endFailingThreads(), k < names.size());
    ASSERT_TRUE(threadsComeTo(threads)) << threadCount();
    ASSERT_EQ(status.ok(), k == names.size());
    if (status.ok())
      return;
    const std::string text = status.error().text();
    EXPECT_EQ(errorRecord(status.error().code).exit, ExitCode::OutOfMemory);
    EXPECT_NE(text.find("cannot start " + names[k] +
                        ": Resource temporarily unavailable; the "
                        "process has "),
              std::string::npos)
        << text;
    EXPECT_NE(text.find(" threads and may have "), std::string::npos) << text;
  }
}

package::Package::Pointer openPackage() {
  return *package::Package::open(package::serialize(package::transferPackage(3)));
}

Result<std::unique_ptr<Session>> openSession(package::Package::Pointer package) {
  LSTMC_ASSIGN(auto devices, makeDevices("3xcpu", {2, Engine::Fast}));
  return Session::create(std::move(package), std::move(devices));
}

TEST(Failures, ThreadsOfDevices) {
  package::Package::Pointer package = openPackage();
  std::string each = "a thread for each of 3 devices and one that watches launches";
  failEveryThread({"the 2 threads of cpu:0", "the 2 threads of cpu:1", "the 2 threads of cpu:2",
                   each, each, each},
                  [&]() -> Status {
                    LSTMC_ASSIGN(auto session, openSession(package));
                    LSTMC_TRY(session->initialise(3));
                    fillInput(*session, 1);
                    return session->run("step");
                  });
  std::string team = "the 4 threads of cpu:0";
  failEveryThread({team, team, team},
                  [&] { return makeDevices("cpu", {4, Engine::Fast}).status(); });
}

TEST(Failures, ThreadOfTheCheckpointWriter) {
  TemporaryFolder folder;
  failEveryThread({"the thread that writes checkpoints"}, [&] {
    return CheckpointWriter::open({folder / "ck", 1, 0, Existing::GoOn, {}, {}}).status();
  });
}

TEST(Failures, MemoryOfLoadAndBind) {
  package::Bytes bytes = package::serialize(package::transferPackage(3));
  EXPECT_GT(failEveryAllocation([&] { return package::Package::open(bytes).status(); }), 100);
  package::Package::Pointer package = openPackage();
  const int threads = threadCount();
  EXPECT_GT(failEveryAllocation([&] { return openSession(package).status(); },
                                [&] { EXPECT_TRUE(threadsComeTo(threads)); }),
            50);
}

TEST(Failures, MemoryOfAnUpdate) {
  auto session = std::move(*openSession(openPackage()));
  EXPECT_TRUE(session->initialise(3).ok());
  fillInput(*session, 1);
  EXPECT_EQ(failEveryAllocation([&] { return session->run("step"); }), 0); // it allocates nothing
}

/// A save over an existing checkpoint, seen from outside.
TEST(Failures, MemoryOfASave) {
  FakeModel model;
  training::CheckpointState state;
  state.identity = model.identity();
  state.optimizer = "adam";
  TemporaryFolder folder;
  auto writer = CheckpointWriter::open({folder / "ck", 1, 0, Existing::GoOn, {}, {}});
  ASSERT_OK(writer);
  auto save = [&](int64_t update) -> Status {
    state.update = update;
    (*writer)->save(state, model, true);
    Status status;
    for (const auto &result : (*writer)->finished(true))
      if (!result.ok())
        status = result.status();
    return status;
  };
  ASSERT_OK(save(1));
  ASSERT_OK(save(2)); // its memory is kept for the next save
  int64_t update = 2, newest = 2;
  int64_t count = 0;
  for (bool failed = true; failed; ++count) {
    ++update;
    failAllocation(count, Failing::Once);
    Status status = save(update);
    failed = endFailing();
    EXPECT_TRUE(failed || status.ok()) << status.error().text();
    auto found = training::findCheckpoint(folder / "ck");
    ASSERT_OK(found);
    EXPECT_TRUE(found->passedOver.empty()) << count;
    int64_t now = found->checkpoint.state.update;
    EXPECT_TRUE(now == update || (now == newest && !status.ok())) << count << ": " << now;
    ASSERT_OK(training::readCheckpoint(folder / "ck/last"));
    newest = now;
    // The next run would remove these files, so remove them here; otherwise more and more would be
    // found.
    for (const auto &entry : std::filesystem::directory_iterator(folder / "ck"))
      if (entry.path().filename().string().starts_with('.'))
        std::filesystem::remove_all(entry.path());
  }
  EXPECT_EQ(newest, update);
  EXPECT_GT(count, 100);
  RecordProperty("allocations", int(count));
  // The next run finds only the checkpoint and the links to it.
  writer->reset();
  ASSERT_OK(CheckpointWriter::open({folder / "ck", 1, 0, Existing::GoOn, {}, {}}));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder / "ck"), {}), 3) << "trash";
}

} // namespace
} // namespace lstmc::test
