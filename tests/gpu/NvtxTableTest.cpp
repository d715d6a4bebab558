// The tables for profilers are laid out as the toolkit's header has them.
#include <cstddef>

#include <nvtx3/nvToolsExt.h>

#include <gtest/gtest.h>

#include "backends/cuda/runtime/NvtxTables.h"

namespace lstmc::cuda::nvtx {
namespace {

static_assert(sizeof(Callbacks) == sizeof(NvtxExportTableCallbacks));
static_assert(offsetof(Callbacks, table) ==
              offsetof(NvtxExportTableCallbacks, GetModuleFunctionTable));
static_assert(sizeof(VersionInfo) == sizeof(NvtxExportTableVersionInfo));
static_assert(offsetof(VersionInfo, version) == offsetof(NvtxExportTableVersionInfo, version));
static_assert(offsetof(VersionInfo, set) ==
              offsetof(NvtxExportTableVersionInfo, SetInjectionNvtxVersion));

TEST(NvtxTable, ConstantsAreThoseOfTheHeader) {
  EXPECT_EQ(kCallbacks, unsigned(NVTX_ETID_CALLBACKS));
  EXPECT_EQ(kVersionInfo, unsigned(NVTX_ETID_VERSIONINFO));
  EXPECT_EQ(kVersion, unsigned(NVTX_VERSION));
  EXPECT_EQ(int(kModules), int(NVTX_CB_MODULE_SIZE));
  EXPECT_EQ(kRangePush, unsigned(NVTX_CBID_CORE_RangePushA));
  EXPECT_EQ(kRangePop, unsigned(NVTX_CBID_CORE_RangePop));
  EXPECT_EQ(kFunctions[NVTX_CB_MODULE_CORE], unsigned(NVTX_CBID_CORE_SIZE));
  EXPECT_EQ(kFunctions[NVTX_CB_MODULE_CUDA], unsigned(NVTX_CBID_CUDA_SIZE));
  EXPECT_EQ(kFunctions[NVTX_CB_MODULE_OPENCL], unsigned(NVTX_CBID_OPENCL_SIZE));
  EXPECT_EQ(kFunctions[NVTX_CB_MODULE_CUDART], unsigned(NVTX_CBID_CUDART_SIZE));
  EXPECT_EQ(kFunctions[NVTX_CB_MODULE_CORE2], unsigned(NVTX_CBID_CORE2_SIZE));
  EXPECT_EQ(kFunctions[NVTX_CB_MODULE_SYNC], unsigned(NVTX_CBID_SYNC_SIZE));
  for (unsigned count : kFunctions)
    EXPECT_LE(count, kMostFunctions);
}

} // namespace
} // namespace lstmc::cuda::nvtx
