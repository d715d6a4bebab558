// A GPU as a device, on the emulated driver: what goes wrong is told, and memory is what was asked
// for.
#include <algorithm>
#include <optional>

#include <gtest/gtest.h>

#include "backends/cuda/emulated/EmulatedDriver.h"
#include "backends/cuda/runtime/GpuDevice.h"
#include "executor/abi/Gate.h"
#include "executor/session/HostCopy.h"

namespace lstmc::cuda {
namespace {

constexpr CardNumber kCard = 40; // no other test has it

std::unique_ptr<Device> makeDevice(CardNumber card = kCard) {
  auto none = [](KernelId, std::span<const Tensor>) -> KernelFunction { return nullptr; };
  auto made = makeGpuDevice("emu:40", emulatedDriver(),
                            {.card = card, .images = emulatedImages(), .onHost = none});
  if (!made.ok())
    throw std::runtime_error(made.error().text());
  return std::move(*made);
}

LaunchSpec copyOf(std::byte *from, std::byte *to, int64_t count) {
  Tensor x, y;
  x.data = from;
  y.data = to;
  for (Tensor *tensor : {&x, &y}) {
    tensor->rank = 1;
    tensor->shape[0] = count;
    tensor->strides[0] = 1;
  }
  return {KernelId::Copy, {x, y}, {}, {}};
}

TEST(Driver, ACardGivesWhatItIsAskedForAndTakesItBack) {
  {
    auto device = makeDevice();
    ASSERT_TRUE(device->allocate(12345).ok());
    EXPECT_EQ(emulatedBytes(kCard), 12345u);
    EXPECT_EQ(device->touchedBytes(), 12345u);
    ASSERT_TRUE(device->allocate(777).ok());
    EXPECT_EQ(emulatedBytes(kCard), 777u);
    std::byte first{1};
    device->copyOut(776, {&first, 1});
    EXPECT_EQ(first, std::byte(0));
  }
  EXPECT_EQ(emulatedBytes(kCard), 0u);
}

TEST(Driver, StagingBuffersArePinnedAsLongAsTheyAreThere) {
  constexpr uint64_t kBytes = 64 << 10;
  std::optional<session::HostCopy> copy;
  std::vector<std::byte> place(2 * kBytes);
  {
    auto device = makeDevice();
    ASSERT_TRUE(device->allocate(2 * kBytes).ok());
    auto *pinner = dynamic_cast<HostPinner *>(device.get());
    auto view = [](MemoryRange range, int64_t count, int64_t stride) {
      DeviceTensor tensor;
      tensor.range = range;
      tensor.layout.rank = 1;
      tensor.layout.shape[0] = count;
      tensor.layout.strides[0] = stride;
      tensor.present = true;
      return tensor;
    };
    // Every second float: by way of a copy of all bytes.
    copy.emplace(view(MemoryRange(*device, 0, kBytes), kBytes / 8, 2),
                 view(MemoryRange(std::span(place).first(kBytes / 2)), kBytes / 8, 1), pinner);
    EXPECT_EQ(copy->stagingBytes(), kBytes);
    EXPECT_EQ(emulatedPinnedBytes(), kBytes);
    copy->run();
    const HostPin own = pinner->pin(place);
    EXPECT_EQ(emulatedPinnedBytes(), 3 * kBytes);
    EXPECT_EQ(pinner->pin(std::span(place).subspan(kBytes)), nullptr); // it is already
    EXPECT_EQ(pinner->pin(std::span(place).first(100)), nullptr);      // too few to gain from
    copy.reset();
    EXPECT_EQ(emulatedPinnedBytes(), 2 * kBytes);
  }
  EXPECT_EQ(emulatedPinnedBytes(), 0u);
  HostPin left; // by a message that was under way when the job broke
  {
    auto device = makeDevice();
    left = dynamic_cast<HostPinner *>(device.get())->pin(place);
  }
  EXPECT_EQ(emulatedPinnedBytes(), 0u);
  left.reset();
}

TEST(Driver, MemoryThatCannotBeHadIsAnError) {
  const Status status = makeDevice()->allocate(uint64_t(1) << 60);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().text(), "error[E0901]: emu:40: an arena of 1152921504606846976 bytes: "
                                   "CUDA_ERROR_OUT_OF_MEMORY: out of memory");
}

TEST(Driver, ACardThatIsNotThereIsAnError) {
  auto made = makeGpuDevice("emu:64", emulatedDriver(), {.card = 64});
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().text(), "error[E0501]: emu:64: found 64 GPUs, numbered from 0");
}

TEST(Driver, AKernelThatTheHostLacksTooIsAnError) {
  auto device = makeDevice();
  ASSERT_TRUE(device->allocate(64).ok());
  LaunchSpec spec = copyOf(device->arena(), device->arena() + 32, 4);
  spec.kernel = KernelId::Initialise;
  spec.operands.push_back(Tensor());
  spec.ints = {int64_t(InitKind::Orthogonal), 0, 0};
  spec.floats = {1, 0};
  EXPECT_EQ(device->prepare({spec}).error().text(),
            "error[E0402]: emu:40 has no kernel \"initialise\" for these types");
}

/// A driver may read memory that is not pinned while it is given the copy, or later, and so does
/// the emulated one.
TEST(Driver, WhatTheHostCarriesOutIsCopiedBackWhateverTheSeed) {
  const KernelChooser onHost = [](KernelId, std::span<const Tensor>) -> KernelFunction {
    return [](const LaunchArgs &args, Worker &) { args.operands[1].as<float>()[0] = 7; };
  };
  for (uint64_t seed = 0; seed < 20; ++seed) {
    seedEmulatedDriver(seed);
    auto made = makeGpuDevice("emu:40", emulatedDriver(),
                              {.card = kCard, .images = emulatedImages(), .onHost = onHost});
    const std::unique_ptr<Device> device = std::move(*made);
    ASSERT_TRUE(device->allocate(64).ok());
    Tensor y;
    y.data = device->arena();
    y.rank = 2;
    y.shape[0] = y.shape[1] = y.strides[0] = y.strides[1] = 1;
    auto program = device->prepare({{KernelId::Initialise,
                                     {Tensor(), y, Tensor()},
                                     {int64_t(InitKind::Orthogonal), 0, 0},
                                     {1, 0}}});
    ASSERT_TRUE(program.ok()) << program.error().text();
    device->run(**program, 0, 1);
    device->finish();
    float found = 0;
    device->copyOut(0, std::as_writable_bytes(std::span(&found, 1)));
    EXPECT_EQ(found, 7) << seed;
  }
}

/// How often, for 200 seeds, a copy is made before the call for it returns.
struct CopiesAtOnce {
  int in = 0, out = 0;

  explicit CopiesAtOnce(bool pinned) {
    const Driver &driver = emulatedDriver();
    DriverContext context = nullptr;
    DriverStream stream = nullptr;
    DeviceAddress memory = 0;
    driver.retainContext(&context, kCard);
    driver.setContext(context);
    driver.createStream(&stream, kStreamNonBlocking);
    driver.allocate(&memory, 64);
    char host = 0;
    if (pinned)
      driver.pin(&host, 1, kPinnedForAll);
    for (uint64_t seed = 0; seed < 200; ++seed) {
      seedEmulatedDriver(seed);
      host = 1;
      driver.copyIn(memory, &host, 1, stream);
      host = 2;
      driver.synchronize(stream);
      driver.copyOut(&host, memory, 1, stream);
      const char found = std::exchange(host, 3);
      driver.synchronize(stream);
      out += host == 3; // nothing came later
      in += host == 3 ? found == 1 : host == 1;
    }
    if (pinned)
      driver.unpin(&host);
    driver.destroyStream(stream);
    driver.free(memory);
    driver.releaseContext(kCard);
  }
};

/// Also what is given later is carried out at once for some seeds.
TEST(Driver, CopiesOfMemoryThatIsNotPinnedAreMadeAtOnceOrLater) {
  const CopiesAtOnce pinned(true), pageable(false);
  for (int count : {pinned.in, pinned.out})
    EXPECT_LT(count, 75);
  for (int count : {pageable.in, pageable.out}) {
    EXPECT_GT(count, 100);
    EXPECT_LT(count, 150);
  }
}

/// The card then refuses everything, until nobody uses it.
TEST(Driver, AnErrorInAKernelNamesItAndItsLine) {
  {
    auto device = makeDevice();
    ASSERT_TRUE(device->allocate(256).ok());
    // Beyond the memory of the card.
    auto program = device->prepare({copyOf(device->arena(), device->arena() + 1024, 8)});
    ASSERT_TRUE(program.ok());
    for (int again = 0; again < 2; ++again)
      try {
        device->run(**program, 0, 1);
        FAIL() << "nothing was found";
      } catch (const std::runtime_error &error) {
        EXPECT_TRUE(std::string(error.what())
                        .starts_with("CUDA_ERROR_LAUNCH_FAILED: lstmc_copy, block 0, thread "))
            << error.what();
        EXPECT_NE(std::string(error.what()).find("Operand.h:"), std::string::npos) << error.what();
      }
  }
  auto device = makeDevice();
  ASSERT_TRUE(device->allocate(256).ok());
  auto program = device->prepare({copyOf(device->arena(), device->arena() + 64, 8)});
  EXPECT_NO_THROW(device->run(**program, 0, 1));
}

TEST(Driver, AnErrorNamesTheKernelThatItIsWaitedFor) {
  setenv("LSTMC_GPU_WAIT", "1", 1);
  auto device = makeDevice();
  unsetenv("LSTMC_GPU_WAIT");
  EXPECT_FALSE(device->keepsGraphs());
  EXPECT_TRUE(device->wantsLabels());
  ASSERT_TRUE(device->allocate(256).ok());
  std::vector<LaunchSpec> specs = {copyOf(device->arena(), device->arena() + 64, 8),
                                   copyOf(device->arena(), device->arena() + 1024, 8),
                                   copyOf(device->arena(), device->arena() + 128, 8)};
  specs[1].label = "a copy net.lnet:3";
  auto program = device->prepare(std::move(specs));
  ASSERT_TRUE(program.ok());
  try {
    device->run(**program, 0, 3);
    FAIL() << "nothing was found";
  } catch (const std::runtime_error &error) {
    EXPECT_TRUE(std::string(error.what())
                    .starts_with("lstmc_copy (a copy net.lnet:3): CUDA_ERROR_LAUNCH_FAILED: "))
        << error.what();
  }
}

/// A layer of so many units, of one sequence, whose weights are read through the cache.
LaunchSpec layerOf(std::byte *memory, int64_t units) {
  LaunchSpec spec{KernelId::RnnForward, std::vector<Tensor>(RnnForwardOperand::kFixed), {}, {}};
  spec.ints = {int64_t(RnnMode::Tanh), 0, 1};
  for (size_t i : {RnnForwardOperand::x, RnnForwardOperand::y}) {
    spec.operands[i].data = memory;
    spec.operands[i].rank = 3;
    std::ranges::fill_n(spec.operands[i].shape.begin(), 2, 1);
    spec.operands[i].shape[2] = units;
    spec.operands[i].strides[2] = 1;
  }
  return spec;
}

/// A part of a card has room for clusters of 2 at most; in those, the layer stays on the chip too.
/// A driver may say that none fits, or that the size is no valid one.
TEST(Driver, ClustersAreAsLargeAsTheGpuHasRoomFor) {
  static int cluster = 0;
  static bool refuses = false;
  Driver driver = emulatedDriver();
  driver.mostClusters = [](int *clusters, DriverFunction function, const LaunchConfig *config) {
    const DriverResult result = emulatedDriver().mostClusters(clusters, function, config);
    if (*clusters > 0)
      cluster = int(config->attributes[0].value[0]);
    return *clusters == 0 && refuses ? kInvalidClusterSize : result;
  };
  auto largest = [&](const char *most) {
    setenv("LSTMC_EMU_CLUSTER", most, 1);
    cluster = 0;
    auto made = makeGpuDevice("emu:40", driver, {.card = kCard, .images = emulatedImages()});
    const std::unique_ptr<Device> device = std::move(*made);
    EXPECT_TRUE(device->allocate(1 << 20).ok());
    EXPECT_TRUE(device->prepare({layerOf(device->arena(), 300)}).ok());
    unsetenv("LSTMC_EMU_CLUSTER");
    return cluster;
  };
  for (bool says : {false, true}) {
    refuses = says;
    EXPECT_EQ(largest("16"), 16);
    EXPECT_GT(largest("8"), 2);
    EXPECT_EQ(largest("2"), 2);
    EXPECT_EQ(largest("1"), 0);
  }
}

TEST(Driver, AKernelIsLookedForInItsFileOnly) {
  static int asked = 0, refused = 0;
  asked = refused = 0;
  Driver driver = emulatedDriver();
  driver.function = [](DriverFunction *function, DriverModule module, const char *name) {
    const DriverResult result = emulatedDriver().function(function, module, name);
    ++asked;
    refused += result != 0;
    return result;
  };
  EXPECT_GT(emulatedImages().size(), 1u);
  auto made = makeGpuDevice("emu:40", driver, {.card = kCard, .images = emulatedImages()});
  const std::unique_ptr<Device> device = std::move(*made);
  ASSERT_TRUE(device->allocate(1 << 16).ok());
  ASSERT_TRUE(device
                  ->prepare({copyOf(device->arena(), device->arena() + 64, 2),
                             layerOf(device->arena(), 10)})
                  .ok());
  EXPECT_GT(asked, 1);
  EXPECT_EQ(refused, 0);
}

TEST(Driver, AKernelMayAskForTheSharedMemoryOfItsLargestLaunch) {
  static int last = 0;
  Driver driver = emulatedDriver();
  driver.setAttribute = [](DriverFunction function, int attribute, int value) {
    return emulatedDriver().setAttribute(function, attribute, last = value);
  };
  auto made =
      makeGpuDevice("emu:40", driver, {.card = kCard, .images = emulatedImages(), .way = 0});
  const std::unique_ptr<Device> device = std::move(*made);
  ASSERT_TRUE(device->allocate(1 << 16).ok());
  auto program = device->prepare({layerOf(device->arena(), 10), layerOf(device->arena(), 10000),
                                  layerOf(device->arena(), 20)});
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(last, 3 * 10000 * 4);
  ASSERT_TRUE(device->prepare({layerOf(device->arena(), 30)}).ok());
  EXPECT_EQ(last, 3 * 10000 * 4);
}

TEST(Driver, MoreSharedMemoryThanAKernelMayAskForIsAnError) {
  auto device = makeDevice();
  const auto image =
      std::ranges::find(emulatedImages(), fileOfKernel("lstmc_copy"), &KernelImage::file);
  DriverModule module = nullptr;
  ASSERT_EQ(emulatedDriver().loadModule(&module, image->bytes), 0);
  DriverFunction copy = nullptr;
  ASSERT_EQ(emulatedDriver().function(&copy, module, "lstmc_copy"), 0);
  const std::vector<std::byte> arguments(4096);
  void *parameters[] = {const_cast<std::byte *>(arguments.data())};
  const LaunchConfig config = {.block = {32, 1, 1}, .sharedBytes = 48 * 1024 + 1};
  EXPECT_EQ(emulatedDriver().launch(&config, copy, parameters, nullptr), 1);
  emulatedDriver().unloadModule(module);
}

TEST(Driver, AMissingLibraryIsNamed) {
  EXPECT_EQ(loadDriver("libno_such_driver.so").error().code, ErrorCode::E0501);
  EXPECT_NE(loadDriver("libno_such_driver.so").error().message.find("libno_such_driver.so"),
            std::string::npos);
  const std::string old = loadDriver("libm.so.6").error().message;
  EXPECT_EQ(old, "libm.so.6 has no function cuInit: the NVIDIA driver is too old");
}

} // namespace
} // namespace lstmc::cuda
