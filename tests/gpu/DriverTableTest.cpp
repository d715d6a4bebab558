// The driver's table has the functions of the toolkit's header, with parameters of the same sizes.
#include <cuda.h>
#include <gtest/gtest.h>

#include "backends/cuda/runtime/Driver.h"
#include "tests/gpu/SameCall.h"

namespace lstmc::cuda {
namespace {

#define LSTMC_DRIVER(FIELD, SYMBOL, PARAMETERS) static constexpr auto k_##FIELD = &Driver::FIELD;
#include "backends/cuda/runtime/Driver.def"

static_assert(agrees(k_init, &cuInit));
static_assert(agrees(k_driverVersion, &cuDriverGetVersion));
static_assert(agrees(k_errorName, &cuGetErrorName));
static_assert(agrees(k_errorText, &cuGetErrorString));
static_assert(agrees(k_deviceCount, &cuDeviceGetCount));
static_assert(agrees(k_deviceName, &cuDeviceGetName));
static_assert(agrees(k_deviceMemory, &cuDeviceTotalMem_v2));
static_assert(agrees(k_deviceAttribute, &cuDeviceGetAttribute));
static_assert(agrees(k_pciBusId, &cuDeviceGetPCIBusId));
static_assert(agrees(k_canAccessPeer, &cuDeviceCanAccessPeer));
static_assert(agrees(k_retainContext, &cuDevicePrimaryCtxRetain));
static_assert(agrees(k_releaseContext, &cuDevicePrimaryCtxRelease_v2));
static_assert(agrees(k_setContext, &cuCtxSetCurrent));
static_assert(agrees(k_enablePeer, &cuCtxEnablePeerAccess));
static_assert(agrees(k_allocate, &cuMemAlloc_v2));
static_assert(agrees(k_free, &cuMemFree_v2));
static_assert(agrees(k_copyIn, &cuMemcpyHtoDAsync_v2));
static_assert(agrees(k_copyOut, &cuMemcpyDtoHAsync_v2));
static_assert(agrees(k_copyWithin, &cuMemcpyDtoDAsync_v2));
static_assert(agrees(k_pin, &cuMemHostRegister_v2));
static_assert(agrees(k_unpin, &cuMemHostUnregister));
static_assert(agrees(k_setBytes, &cuMemsetD8Async));
static_assert(agrees(k_createStream, &cuStreamCreate));
static_assert(agrees(k_destroyStream, &cuStreamDestroy_v2));
static_assert(agrees(k_synchronize, &cuStreamSynchronize));
static_assert(agrees(k_query, &cuStreamQuery));
static_assert(agrees(k_callHost, &cuLaunchHostFunc));
static_assert(agrees(k_createEvent, &cuEventCreate));
static_assert(agrees(k_destroyEvent, &cuEventDestroy_v2));
static_assert(agrees(k_record, &cuEventRecord));
static_assert(agrees(k_wait, &cuStreamWaitEvent));
static_assert(agrees(k_beginCapture, &cuStreamBeginCapture_v2));
static_assert(agrees(k_endCapture, &cuStreamEndCapture));
static_assert(agrees(k_instantiate, &cuGraphInstantiateWithFlags));
static_assert(agrees(k_launchGraph, &cuGraphLaunch));
static_assert(agrees(k_destroyExecutable, &cuGraphExecDestroy));
static_assert(agrees(k_destroyGraph, &cuGraphDestroy));
static_assert(agrees(k_loadModule, &cuModuleLoadData));
static_assert(agrees(k_unloadModule, &cuModuleUnload));
static_assert(agrees(k_function, &cuModuleGetFunction));
static_assert(agrees(k_setAttribute, &cuFuncSetAttribute));
static_assert(agrees(k_mostBlocks, &cuOccupancyMaxActiveBlocksPerMultiprocessor));
static_assert(agrees(k_mostClusters, &cuOccupancyMaxActiveClusters));
static_assert(agrees(k_launch, &cuLaunchKernelEx));
static_assert(sizeof(LaunchConfig) == sizeof(CUlaunchConfig));
static_assert(offsetof(LaunchConfig, block) == offsetof(CUlaunchConfig, blockDimX));
static_assert(offsetof(LaunchConfig, sharedBytes) == offsetof(CUlaunchConfig, sharedMemBytes));
static_assert(offsetof(LaunchConfig, stream) == offsetof(CUlaunchConfig, hStream));
static_assert(offsetof(LaunchConfig, attributes) == offsetof(CUlaunchConfig, attrs));
static_assert(offsetof(LaunchConfig, attributeCount) == offsetof(CUlaunchConfig, numAttrs));
static_assert(sizeof(LaunchAttribute) == sizeof(CUlaunchAttribute));
static_assert(offsetof(LaunchAttribute, value) == offsetof(CUlaunchAttribute, value));
static_assert(sizeof(DeviceAddress) == sizeof(CUdeviceptr));

TEST(DriverTable, ConstantsAreThoseOfTheHeader) {
  EXPECT_EQ(kStreamNonBlocking, unsigned(CU_STREAM_NON_BLOCKING));
  EXPECT_EQ(kPinnedForAll, unsigned(CU_MEMHOSTREGISTER_PORTABLE));
  EXPECT_EQ(kEventWithoutTiming, unsigned(CU_EVENT_DISABLE_TIMING));
  EXPECT_EQ(kCaptureOfThread, unsigned(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  EXPECT_EQ(kMostSharedBytes, int(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES));
  EXPECT_EQ(kLargeClusters, int(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED));
  EXPECT_EQ(kSharedBytesOfBlock, int(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
  EXPECT_EQ(kMultiprocessorCount, int(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
  EXPECT_EQ(kCapabilityMajor, int(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR));
  EXPECT_EQ(kCapabilityMinor, int(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
  EXPECT_EQ(kClockRate, int(CU_DEVICE_ATTRIBUTE_CLOCK_RATE));
  EXPECT_EQ(kMemoryClockRate, int(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE));
  EXPECT_EQ(kMemoryBusWidth, int(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH));
  EXPECT_EQ(kL2CacheSize, int(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE));
  EXPECT_EQ(int(LaunchAttribute::Cooperative), int(CU_LAUNCH_ATTRIBUTE_COOPERATIVE));
  EXPECT_EQ(int(LaunchAttribute::Cluster), int(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION));
  EXPECT_EQ(kNotReady, int(CUDA_ERROR_NOT_READY));
  EXPECT_EQ(kPeerAlreadyEnabled, int(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED));
}

/// The library that stands for the driver when programs are linked exports what the real one does.
TEST(DriverTable, TheToolkitsLibraryHasEveryFunction) {
  const auto loaded = loadDriver(LSTMC_CUDA_STUB);
  ASSERT_FALSE(loaded.ok()); // it does nothing but to be linked
  EXPECT_EQ(loaded.error().message.find("has no function"), std::string::npos)
      << loaded.error().message;
}

} // namespace
} // namespace lstmc::cuda
