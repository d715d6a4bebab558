// Allocation number k fails, for every k: the result is an error, and nothing leaks. Saves are
// tested in tests/executor/failures.
#include "executor/base/NoMemory.h"
#include "tests/executor/loaders/Allocations.h"
#include "tests/executor/loaders/Loaders.h"

namespace lstmc::test {
namespace {

/// Without any memory, not even an error can be returned, and the program's own handler ends it.
Status attempt(const Loader &loader, Failing failing) try {
  return loader.load(loader.path);
} catch (const std::bad_alloc &) {
  EXPECT_EQ(failing, Failing::EverAfter) << loader.name;
  return noMemory("");
}

TEST(NoMemory, EveryLoaderSaysSo) {
  TemporaryFolder folder;
  for (const Loader &loader : makeLoaders(folder)) {
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

} // namespace
} // namespace lstmc::test
