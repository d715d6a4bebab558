#include "backends/cuda/emulated/EmulatedDriver.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "backends/cuda/emulated/EmulatedGraphs.h"
#include "backends/cuda/emulated/EmulatedKernels.h"
#include "backends/cuda/emulated/HostPins.h"
#include "backends/cuda/emulated/Machine.h"
#include "executor/base/HostMemory.h"

namespace lstmc::cuda {

using namespace emulated;

namespace {

thread_local std::vector<MemoryUse> expected;

Card &cardOf(DriverContext context) { return *reinterpret_cast<Card *>(context); }

// ---- streams and events ----

DriverResult createStream(DriverStream *stream, unsigned) {
  *stream = handleOf<DriverStream>(&newStream(*current));
  return kDone;
}
DriverResult destroyStream(DriverStream stream) {
  DriverResult result = synchronize(streamOf(stream));
  removeStream(*current, streamOf(stream));
  return result;
}
DriverResult createEvent(DriverEvent *event, unsigned) {
  *event = handleOf<DriverEvent>(&newEvent(*current));
  return kDone;
}
DriverResult destroyEvent(DriverEvent) { return kDone; } // with its card

DriverResult callHost(DriverStream stream, void (*function)(void *), void *argument) {
  return give(streamOf(stream),
              {"a host function", {}, [=](uint64_t) -> std::optional<std::string> {
                 function(argument);
                 return std::nullopt;
               }});
}

// ---- memory ----

/// Bytes of a card: the host's, unless LSTMC_EMU_MEMORY says less.
uint64_t bytesOfCard() {
  const uint64_t host = hostMemory().bytes;
  const char *asked = std::getenv("LSTMC_EMU_MEMORY");
  return asked ? std::min<uint64_t>(std::strtoull(asked, nullptr, 10), host) : host;
}

DriverResult allocate(DeviceAddress *address, size_t bytes) {
  *address = 0;
  if (bytes == 0)
    return kInvalidValue;
  const uint64_t given = world().memory.given(current->number);
  if (given <= bytesOfCard() && bytes <= bytesOfCard() - given)
    *address = world().memory.allocate(current->number, bytes);
  return *address ? kDone : kOutOfMemory;
}
DriverResult free(DeviceAddress address) {
  return world().memory.free(address) ? kDone : kInvalidValue;
}
/// Whether a copy from or to memory of the host is made, as far as the host sees, while it is
/// given. A driver may do that with what is not pinned, or have it come later, too.
bool isAtOnce(const void *memory, size_t bytes, const Stream &stream) {
  std::lock_guard lock(current->mutex);
  return !stream.capture && !isPinned(memory, bytes) && current->random() % 2 == 0;
}
DriverResult copyIn(DeviceAddress to, const void *from, size_t bytes, DriverStream handle) {
  Stream &stream = streamOf(handle);
  std::byte *memory = world().memory.find(to, bytes);
  if (!memory)
    return kInvalidValue;
  const auto *first = static_cast<const std::byte *>(from);
  std::vector<std::byte> read;
  if (isAtOnce(from, bytes, stream))
    read.assign(first, first + bytes);
  const MemoryUse use{to, bytes, true, "copied in"};
  return give(stream, {"a copy from the host",
                       {use},
                       [=, read = std::move(read)](uint64_t) -> std::optional<std::string> {
                         std::memcpy(memory, read.empty() ? first : read.data(), bytes);
                         return std::nullopt;
                       }});
}
DriverResult copyOut(void *to, DeviceAddress from, size_t bytes, DriverStream handle) {
  Stream &stream = streamOf(handle);
  const std::byte *memory = world().memory.find(from, bytes);
  if (!memory)
    return kInvalidValue;
  const bool atOnce = isAtOnce(to, bytes, stream);
  const MemoryUse use{from, bytes, false, "copied out"};
  const DriverResult result =
      give(stream, {"a copy to the host", {use}, [=](uint64_t) -> std::optional<std::string> {
                      std::memcpy(to, memory, bytes);
                      return std::nullopt;
                    }});
  return result == kDone && atOnce ? carryOut(stream) : result;
}
DriverResult copyWithin(DeviceAddress to, DeviceAddress from, size_t bytes, DriverStream stream) {
  std::byte *target = world().memory.find(to, bytes);
  const std::byte *source = world().memory.find(from, bytes);
  if (!target || !source)
    return kInvalidValue;
  const MemoryUse read{from, bytes, false, "copied from"}, written{to, bytes, true, "copied to"};
  return give(
      streamOf(stream),
      {"a copy within memory", {read, written}, [=](uint64_t) -> std::optional<std::string> {
         std::memcpy(target, source, bytes);
         return std::nullopt;
       }});
}
DriverResult setBytes(DeviceAddress to, unsigned char value, size_t bytes, DriverStream stream) {
  std::byte *memory = world().memory.find(to, bytes);
  if (!memory)
    return kInvalidValue;
  const MemoryUse use{to, bytes, true, "set"};
  return give(streamOf(stream),
              {"setting bytes", {use}, [=](uint64_t) -> std::optional<std::string> {
                 std::memset(memory, value, bytes);
                 return std::nullopt;
               }});
}

// ---- launches ----

std::vector<gpu::Region> regionsOf(std::span<const MemoryUse> uses) {
  std::vector<gpu::Region> regions;
  for (const MemoryUse &use : uses)
    if (std::byte *memory = world().memory.find(use.begin, use.bytes))
      // NOLINTNEXTLINE(performance-no-int-to-ptr): addresses of a card are numbers
      regions.push_back({reinterpret_cast<const void *>(uintptr_t(use.begin)), use.bytes,
                         use.writes, std::string(use.name), memory});
  return regions;
}

void expect(std::span<const MemoryUse> uses) { expected.assign(uses.begin(), uses.end()); }

/// What a kernel may ask for unless more was set.
constexpr int kUsualSharedBytes = 48 * 1024;

int sharedBytesOf(const void *kernel) {
  std::lock_guard lock(current->mutex);
  auto found = current->sharedBytes.find(kernel);
  return found == current->sharedBytes.end() ? kUsualSharedBytes
                                             : std::max(kUsualSharedBytes, found->second);
}
DriverResult setAttribute(DriverFunction function, int attribute, int value) {
  if (attribute == kLargeClusters && value == 1) {
    std::lock_guard lock(current->mutex);
    current->largeClusters.insert(function);
    return kDone;
  }
  if (attribute != kMostSharedBytes || value < 0 || value > gpu::kMaxSharedBytes)
    return kInvalidValue;
  std::lock_guard lock(current->mutex);
  int &most = current->sharedBytes[function];
  most = std::max(most, value); // devices that share the card have a function each elsewhere
  return kDone;
}

/// A number from the environment, or what there is without.
int numberFrom(const char *variable, int otherwise) {
  const char *text = std::getenv(variable);
  return text ? std::atoi(text) : otherwise;
}
/// Blocks of the largest cluster that fits, on a card of which a part is missing.
int mostBlocksOfCluster() { return numberFrom("LSTMC_EMU_CLUSTER", gpu::kMaxCluster); }
/// Whether cards reach each other's memory.
bool arePeers() { return numberFrom("LSTMC_EMU_PEERS", 1) != 0; }

int clusterOf(const LaunchConfig &config) {
  for (unsigned i = 0; i < config.attributeCount; ++i)
    if (config.attributes[i].kind == LaunchAttribute::Cluster)
      return int(config.attributes[i].value[0]);
  return 1;
}

/// Of an H100: its threads, blocks and shared memory, of which each block takes 1 KiB besides.
DriverResult mostBlocks(int *blocks, DriverFunction function, int threads, size_t sharedBytes) {
  constexpr int kThreads = 2048, kBlocks = 32, kShared = 228 << 10, kBeside = 1 << 10;
  if (threads < 1 || threads > gpu::kMaxThreads)
    return kInvalidValue;
  const bool allowed = int(sharedBytes) <= sharedBytesOf(function);
  *blocks =
      allowed ? std::min({kThreads / threads, kBlocks, kShared / (int(sharedBytes) + kBeside)}) : 0;
  return kDone;
}
/// Whether a kernel may have clusters of so many blocks at all.
bool isAllowed(const void *kernel, int cluster) {
  std::lock_guard lock(current->mutex);
  return cluster <= gpu::kUsualCluster ||
         (cluster <= gpu::kMaxCluster && current->largeClusters.contains(kernel));
}

DriverResult mostClusters(int *clusters, DriverFunction function, const LaunchConfig *config) {
  const int cluster = clusterOf(*config);
  int blocks = 0;
  const DriverResult result =
      mostBlocks(&blocks, function, int(config->block[0]), config->sharedBytes);
  *clusters = cluster <= mostBlocksOfCluster() ? gpu::kMultiprocessors / cluster * blocks : 0;
  return isAllowed(function, cluster) ? result : kInvalidCluster;
}

DriverResult launch(const LaunchConfig *config, DriverFunction function, void **parameters,
                    void **) {
  const auto &kernel = *reinterpret_cast<const EmulatedKernel *>(function);
  std::vector<MemoryUse> uses = std::move(expected);
  expected.clear();
  if (int(config->sharedBytes) > sharedBytesOf(&kernel))
    return kInvalidValue;
  const int cluster = clusterOf(*config);
  if (cluster > mostBlocksOfCluster() || !isAllowed(&kernel, cluster))
    return kInvalidCluster;
  if (!arePeers() && std::ranges::any_of(uses, [](const MemoryUse &use) {
        return !world().memory.isOf(current->number, use.begin);
      }))
    return kInvalidValue;
  if (uses.empty()) // it may touch anything
    world().memory.each([&](DeviceAddress begin, uint64_t bytes, std::byte *) {
      uses.push_back({begin, bytes, true, "memory"});
    });
  const auto *first = static_cast<const std::byte *>(parameters[0]);
  std::vector<std::byte> arguments(first, first + kernel.argumentBytes);
  gpu::LaunchShape shape{config->grid[0], int(config->block[0]), int(config->sharedBytes)};
  for (unsigned i = 0; i < config->attributeCount; ++i)
    if (const LaunchAttribute &attribute = config->attributes[i];
        attribute.kind == LaunchAttribute::Cooperative)
      shape.cooperative = attribute.value[0];
    else if (attribute.kind == LaunchAttribute::Cluster)
      shape.cluster = int(attribute.value[0]);
    else
      return kInvalidValue;
  std::vector<gpu::Region> regions = regionsOf(uses);
  return give(
      streamOf(config->stream),
      {std::string(kernel.name), std::move(uses),
       [=, &kernel, regions = std::move(regions)](uint64_t seed) -> std::optional<std::string> {
         if (auto fault =
                 gpu::launch(kernel.name, kernel.body, arguments.data(), shape, regions, seed))
           return fault->text();
         return std::nullopt;
       }});
}

DriverResult loadModule(DriverModule *module, const void *image) {
  std::unique_ptr<EmulatedModule> loaded = EmulatedModule::load(image);
  if (!loaded)
    return kInvalidImage;
  *module = handleOf<DriverModule>(loaded.release());
  return kDone;
}
DriverResult unloadModule(DriverModule module) {
  delete reinterpret_cast<EmulatedModule *>(module);
  return kDone;
}
DriverResult findFunction(DriverFunction *function, DriverModule module, const char *name) {
  const EmulatedKernel *kernel = reinterpret_cast<EmulatedModule *>(module)->find(name);
  *function = reinterpret_cast<DriverFunction>(const_cast<EmulatedKernel *>(kernel));
  return kernel ? kDone : kNotFound;
}

// ---- cards ----

DriverResult retain(DriverContext *context, CardNumber card) {
  if (card < 0 || card >= world().count)
    return kInvalidValue;
  Card &found = world().cards[card];
  std::lock_guard lock(found.mutex);
  ++found.contexts;
  *context = handleOf<DriverContext>(&found);
  return kDone;
}
/// The last one ends the context, and a fault with it.
DriverResult release(CardNumber card) {
  Card &found = world().cards[card];
  if (found.contexts == 1 && isAwaited(found)) {
    std::fprintf(stderr,
                 "a stream of another GPU waits for an event of GPU %d, which is given up\n", card);
    std::abort();
  }
  std::lock_guard lock(found.mutex);
  if (--found.contexts == 0) {
    found.fault.clear();
    found.streams.clear();
    found.events.clear();
    found.sharedBytes.clear();
    endHostPins(found);
  }
  return kDone;
}
DriverResult setContext(DriverContext context) {
  current = context ? &cardOf(context) : nullptr;
  return kDone;
}

struct ErrorText {
  DriverResult error;
  const char *name, *text;
};
constexpr ErrorText kErrors[] = {
    {kOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {kNoPeers, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED",
     "peer access is not supported between these two devices"},
    {kInvalidImage, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {kInvalidCluster, "CUDA_ERROR_INVALID_CLUSTER_SIZE",
     "a cluster of that size does not fit on the device"},
    {kNotFound, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {kNotInCapture, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
    {kCaptureInvalid, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
     "operation failed due to a previous error during capture"},
    {kCaptureUnmatched, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED",
     "the capture was not begun on this stream"},
    {kCaptureUnjoined, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED",
     "a captured stream was not joined to the first one"},
    {kCaptureIsolation, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION",
     "a captured stream waits for what is not captured with it"},
    {kCapturedEvent, "CUDA_ERROR_CAPTURED_EVENT",
     "the event was last recorded in a capture that has ended"},
    {kAlreadyPinned, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED",
     "part or all of the requested memory range is already mapped"},
    {kNotPinned, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED",
     "pointer does not correspond to a registered memory region"},
    {kNotReady, "CUDA_ERROR_NOT_READY", "device not ready"},
    {kInvalidValue, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
};

const ErrorText &textOfError(DriverResult error) {
  const ErrorText *found = std::ranges::find(kErrors, error, &ErrorText::error);
  return found == std::end(kErrors) ? std::end(kErrors)[-1] : *found;
}
DriverResult errorName(DriverResult error, const char **text) {
  *text = error == kLaunchFailed ? "CUDA_ERROR_LAUNCH_FAILED" : textOfError(error).name;
  return kDone;
}
DriverResult errorText(DriverResult error, const char **text) {
  *text = error == kLaunchFailed ? faultText.c_str() : textOfError(error).text;
  return kDone;
}

/// Those of an H100 (compiler/Cards.def).
DriverResult deviceAttribute(int *value, int attribute, CardNumber) {
  static constexpr struct {
    int attribute, value;
  } kAttributes[] = {{kSharedBytesOfBlock, gpu::kMaxSharedBytes},
                     {kMultiprocessorCount, gpu::kMultiprocessors},
                     {kCapabilityMajor, 9},
                     {kCapabilityMinor, 0},
                     {kClockRate, 1'980'000},
                     {kMemoryClockRate, 2'619'000},
                     {kMemoryBusWidth, 5120},
                     {kL2CacheSize, 50 << 20}};
  for (const auto &known : kAttributes)
    if (known.attribute == attribute)
      return *value = known.value, kDone + 0;
  return kInvalidValue;
}

Driver makeTable() {
  Driver driver;
  driver.init = [](unsigned) { return kDone + 0; };
  driver.driverVersion = [](int *version) { return *version = 0; };
  driver.errorName = errorName;
  driver.errorText = errorText;
  driver.deviceCount = [](int *count) { return *count = world().count, kDone + 0; };
  driver.deviceName = [](char *name, int length, CardNumber) {
    std::strncpy(name, "emulated GPU", size_t(length));
    return kDone + 0;
  };
  driver.deviceMemory = [](size_t *bytes, CardNumber) {
    *bytes = size_t(bytesOfCard());
    return kDone + 0;
  };
  driver.deviceAttribute = deviceAttribute;
  driver.pciBusId = [](char *id, int length, CardNumber card) {
    std::snprintf(id, size_t(length), "emulated %d", card);
    return kDone + 0;
  };
  driver.canAccessPeer = [](int *can, CardNumber, CardNumber) {
    *can = arePeers();
    return kDone + 0;
  };
  driver.retainContext = retain;
  driver.releaseContext = release;
  driver.setContext = setContext;
  driver.enablePeer = [](DriverContext, unsigned) { return arePeers() ? kDone + 0 : kNoPeers; };
  driver.allocate = allocate;
  driver.free = free;
  driver.copyIn = copyIn;
  driver.copyOut = copyOut;
  driver.copyWithin = copyWithin;
  driver.setBytes = setBytes;
  driver.createStream = createStream;
  driver.destroyStream = destroyStream;
  driver.synchronize = [](DriverStream stream) { return synchronize(streamOf(stream)); };
  driver.query = [](DriverStream stream) { return query(streamOf(stream)); };
  driver.callHost = callHost;
  driver.createEvent = createEvent;
  driver.destroyEvent = destroyEvent;
  driver.record = [](DriverEvent event, DriverStream stream) {
    return record(eventOf(event), streamOf(stream));
  };
  driver.wait = [](DriverStream stream, DriverEvent event, unsigned) {
    return wait(streamOf(stream), eventOf(event));
  };
  driver.loadModule = loadModule;
  driver.unloadModule = unloadModule;
  driver.function = findFunction;
  driver.setAttribute = setAttribute;
  driver.mostBlocks = mostBlocks;
  driver.mostClusters = mostClusters;
  driver.launch = launch;
  driver.expect = expect;
  addGraphs(driver);
  addHostPins(driver);
  return driver;
}

} // namespace

const Driver &emulatedDriver() {
  static const Driver driver = makeTable();
  return driver;
}

std::span<const KernelImage> emulatedImages() {
  static const std::vector<KernelImage> images = [] {
    std::vector<KernelImage> all;
    for (const char *file : emulatedFiles())
      all.push_back({file, reinterpret_cast<const std::byte *>(file)});
    return all;
  }();
  return images;
}

void seedEmulatedDriver(uint64_t seed) { world().reseed(seed); }

uint64_t emulatedBytes(CardNumber card) { return world().memory.given(card); }

} // namespace lstmc::cuda
