// NCCL's table has the functions of its header, with parameters of the same sizes.
#include <gtest/gtest.h>
#include <nccl.h>

#include "backends/cuda/runtime/Nccl.h"
#include "tests/gpu/SameCall.h"

namespace lstmc::cuda {
namespace {

static_assert(agrees(&Nccl::version, &ncclGetVersion));
static_assert(agrees(&Nccl::newId, &ncclGetUniqueId));
static_assert(agrees(&Nccl::open, &ncclCommInitRankConfig));
static_assert(agrees(&Nccl::state, &ncclCommGetAsyncError));
static_assert(agrees(&Nccl::send, &ncclSend));
static_assert(agrees(&Nccl::receive, &ncclRecv));
static_assert(agrees(&Nccl::abort, &ncclCommAbort));
static_assert(agrees(&Nccl::errorText, &ncclGetErrorString));
static_assert(sizeof(NcclId) == sizeof(ncclUniqueId));
static_assert(offsetof(NcclConfig, magic) == offsetof(ncclConfig_t, magic));
static_assert(offsetof(NcclConfig, version) == offsetof(ncclConfig_t, version));
static_assert(offsetof(NcclConfig, blocking) == offsetof(ncclConfig_t, blocking));

TEST(NcclTable, ConstantsAreThoseOfTheHeader) {
  EXPECT_EQ(kNcclInvalidArgument, int(ncclInvalidArgument));
  EXPECT_EQ(kNcclInvalidUsage, int(ncclInvalidUsage));
  EXPECT_EQ(kNcclInProgress, int(ncclInProgress));
  EXPECT_EQ(kNcclByte, int(ncclUint8));
  const ncclConfig_t theirs = NCCL_CONFIG_INITIALIZER;
  EXPECT_EQ(NcclConfig().magic, theirs.magic);
  EXPECT_EQ(NcclConfig().blocking, theirs.blocking);
}

/// Where the header is, so should be the library.
TEST(NcclTable, TheLibraryHasEveryFunction) {
  const auto nccl = machineNccl();
  if (!nccl.ok())
    GTEST_SKIP() << nccl.error().message;
  EXPECT_TRUE(versionOf(**nccl).starts_with("2.")) << versionOf(**nccl);
  EXPECT_STRNE((*nccl)->errorText(kNcclInvalidUsage), (*nccl)->errorText(kNcclInvalidArgument));
  NcclId id{};
  EXPECT_EQ((*nccl)->newId(&id), 0); // without a GPU too
}

} // namespace
} // namespace lstmc::cuda
