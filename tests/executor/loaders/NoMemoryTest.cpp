// The allocation number k fails, for every k: an error, nothing leaked, and what was on the disk is
// whole.
#include <unistd.h>

#include <sys/wait.h>

#include "executor/base/NoMemory.h"
#include "executor/training/Checkpoint.h"
#include "executor/training/CheckpointWriter.h"
#include "tests/executor/loaders/Allocations.h"
#include "tests/executor/loaders/Loaders.h"
#include "tests/executor/training/FakeModel.h"

namespace lstmc::test {
namespace {

/// Where there is no memory at all, not even an error can be handed on, and the program's own
/// handler ends it.
Status attempt(const Loader &loader, Failing failing) try {
  return loader.load(loader.path);
} catch (const std::bad_alloc &) {
  EXPECT_EQ(failing, Failing::EverAfter) << loader.name;
  return noMemory("");
}

TEST(NoMemory, EveryLoaderSaysSo) {
  TemporaryFolder folder;
  for (const Loader &loader : makeLoaders(folder)) {
    if (loader.name == "checkpoint")
      continue; // nlohmann's trees end the process when they are freed without memory
    ASSERT_OK(loader.load(loader.path));
    for (Failing failing : {Failing::Once, Failing::EverAfter}) {
      int64_t k = 0;
      for (bool failed = true; failed; ++k) {
        int64_t before = allocated().count;
        {
          failAllocation(k, failing);
          Status status = attempt(loader, failing);
          failed = endFailing();
          if (!failed)
            ASSERT_OK(status);
          if (!status.ok()) {
            EXPECT_EQ(status.error().code, ErrorCode::E0601) << status.error().text();
            EXPECT_NE(status.error().text().find("memory"), std::string::npos)
                << status.error().text();
          }
        }
        ASSERT_EQ(allocated().count, before) << loader.name << ", allocation " << k;
      }
      EXPECT_GT(k, 3) << loader.name;
    }
  }
}

// Where the manifest's JSON finds no memory the library ends the process, which loses no checkpoint
// either.
TEST(NoMemory, ASaveMayFailAndTheCheckpointBeforeStays) {
  using namespace training;
  FakeModel model;
  CheckpointState state;
  state.identity = model.identity();
  state.optimizer = "adam";
  auto save = [&](const std::string &folder, int64_t update, int64_t failing) {
    auto writer =
        CheckpointWriter::open({folder, 1, 0, CheckpointWriter::Options::Existing::GoOn, {}, {}});
    ASSERT_OK(writer);
    state.update = update;
    if (failing >= 0)
      failAllocation(failing, Failing::Once);
    (*writer)->save(state, model, true);
    for (const auto &result : (*writer)->finished(true))
      EXPECT_TRUE(result.ok() || failing >= 0) << result.error().text();
  };
  constexpr int kFailed = 5;
  bool failed = true;
  for (int64_t k = 0; failed; k += 7) {
    TemporaryFolder folder;
    save(folder / "ck", 1, -1);
    pid_t child = ::fork();
    if (child == 0) {
      ::close(STDERR_FILENO); // what std::terminate has to say
      try {
        save(folder / "ck", 2, k);
      } catch (const std::bad_alloc &) { // reached the program's own handler
      }
      ::_exit(endFailing() ? kFailed : 0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    failed = !WIFEXITED(status) || WEXITSTATUS(status) == kFailed;
    auto found = findCheckpoint(folder / "ck");
    ASSERT_OK(found);
    EXPECT_TRUE(found->passedOver.empty()) << k;
    if (!failed)
      EXPECT_EQ(found->checkpoint.state.update, 2);
  }
}

} // namespace
} // namespace lstmc::test
