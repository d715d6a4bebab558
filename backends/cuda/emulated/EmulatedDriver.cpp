#include "backends/cuda/emulated/EmulatedDriver.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <vector>

#include "backends/cuda/emulated/CardMemory.h"
#include "backends/cuda/emulated/EmulatedKernels.h"
#include "backends/cuda/emulated/Machine.h"
#include "backends/cuda/emulated/OrderCheck.h"
#include "executor/abi/Devices.h"
#include "executor/base/FloatMode.h"

namespace lstmc::cuda {

namespace {

enum : DriverResult {
  kDone = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kInvalidImage = 200,
  kNotFound = 500,
  kLaunchFailed = 719,
};

/// What a stream was given.
struct Item {
  std::function<std::optional<std::string>()> work; ///< of an event: none; else what went wrong
  size_t event = 0;
  uint64_t count = 0; ///< how often the event has to have been recorded
  bool waits = false;
};

struct Stream {
  size_t number; ///< of the order check
  std::deque<Item> items;
};

struct Event {
  size_t number;
  uint64_t given = 0, recorded = 0; ///< how often
};

struct Card {
  CardNumber number = 0;
  std::recursive_mutex mutex; ///< recursive: a host function may look at the device
  std::mt19937_64 random;
  std::vector<std::unique_ptr<Stream>> streams;
  std::vector<std::unique_ptr<Event>> events;
  int contexts = 0; ///< how often it is retained
  std::string fault;
};

struct World {
  World() {
    const char *seed = std::getenv("LSTMC_EMU_SEED");
    reseed(seed ? std::strtoull(seed, nullptr, 10) : 0);
    for (int i = 0; i < kMaxDevices; ++i)
      cards[i].number = i;
  }
  void reseed(uint64_t seed) {
    for (Card &card : cards) {
      std::lock_guard lock(card.mutex);
      card.random.seed(seed + uint64_t(&card - cards));
    }
  }

  Card cards[kMaxDevices];
  CardMemory memory;
  std::mutex orderMutex;
  OrderCheck order;
};

World &world() {
  static auto *const world = new World; // devices may be destroyed after static objects
  return *world;
}

thread_local Card *current = nullptr;
thread_local std::string faultText = "a launch failed";
thread_local std::vector<MemoryUse> expected;

template <typename Handle, typename T> Handle handleOf(T *object) {
  return reinterpret_cast<Handle>(object);
}
Card &cardOf(DriverContext context) { return *reinterpret_cast<Card *>(context); }
Stream &streamOf(DriverStream stream) { return *reinterpret_cast<Stream *>(stream); }
Event &eventOf(DriverEvent event) { return *reinterpret_cast<Event *>(event); }

DriverResult failed(const Card &card) {
  faultText = card.fault;
  return kLaunchFailed;
}

// ---- carrying out ----

/// Carries out the next item of one of the streams that have one that is ready. False when there is
/// none.
bool step(Card &card) {
  std::vector<Stream *> ready;
  auto isReady = [&](const Item &item) {
    return !item.waits || card.events[item.event]->recorded >= item.count;
  };
  for (const auto &stream : card.streams)
    if (stream && !stream->items.empty() && isReady(stream->items.front()))
      ready.push_back(stream.get());
  if (ready.empty())
    return false;
  Stream &stream = *ready[card.random() % ready.size()];
  Item item = std::move(stream.items.front());
  stream.items.pop_front();
  if (item.work) {
    if (auto fault = card.fault.empty() ? item.work() : std::nullopt)
      card.fault = *fault;
  } else if (!item.waits) {
    card.events[item.event]->recorded = item.count;
  }
  return true;
}

/// Gives the stream an operation that uses these bytes.
DriverResult give(DriverStream handle, std::string what, std::span<const MemoryUse> uses,
                  std::function<std::optional<std::string>()> work) {
  Card &card = *current;
  std::lock_guard lock(card.mutex);
  if (!card.fault.empty())
    return failed(card);
  {
    std::lock_guard orderLock(world().orderMutex);
    if (auto conflict = world().order.add(streamOf(handle).number, std::move(what), uses)) {
      card.fault = *conflict;
      return failed(card);
    }
  }
  streamOf(handle).items.push_back({std::move(work)});
  while (card.random() % 4 == 0 && step(card))
    ;
  return kDone;
}

DriverResult synchronize(DriverStream handle) {
  Card &card = *current;
  std::lock_guard lock(card.mutex);
  while (!streamOf(handle).items.empty())
    if (!step(card))
      std::abort(); // streams wait for one another
  std::lock_guard orderLock(world().orderMutex);
  world().order.synchronized(streamOf(handle).number);
  return card.fault.empty() ? kDone : failed(card);
}

// ---- streams and events ----

DriverResult createStream(DriverStream *stream, unsigned) {
  std::lock_guard lock(current->mutex);
  std::lock_guard orderLock(world().orderMutex);
  current->streams.push_back(std::make_unique<Stream>(Stream{world().order.newStream(), {}}));
  *stream = handleOf<DriverStream>(current->streams.back().get());
  return kDone;
}
DriverResult destroyStream(DriverStream stream) {
  DriverResult result = synchronize(stream);
  std::lock_guard lock(current->mutex);
  std::erase_if(current->streams,
                [&](const auto &each) { return each.get() == &streamOf(stream); });
  return result;
}
DriverResult createEvent(DriverEvent *event, unsigned) {
  std::lock_guard lock(current->mutex);
  std::lock_guard orderLock(world().orderMutex);
  current->events.push_back(std::make_unique<Event>(Event{world().order.newEvent()}));
  *event = handleOf<DriverEvent>(current->events.back().get());
  return kDone;
}
DriverResult destroyEvent(DriverEvent) { return kDone; } // with its card

size_t placeOf(const Card &card, DriverEvent event) {
  return size_t(std::ranges::find(card.events, &eventOf(event), &std::unique_ptr<Event>::get) -
                card.events.begin());
}
DriverResult record(DriverEvent event, DriverStream stream) {
  Card &card = *current;
  std::lock_guard lock(card.mutex);
  std::lock_guard orderLock(world().orderMutex);
  world().order.record(eventOf(event).number, streamOf(stream).number);
  streamOf(stream).items.push_back({{}, placeOf(card, event), ++eventOf(event).given, false});
  return kDone;
}
DriverResult wait(DriverStream stream, DriverEvent event, unsigned) {
  Card &card = *current;
  std::lock_guard lock(card.mutex);
  std::lock_guard orderLock(world().orderMutex);
  world().order.wait(streamOf(stream).number, eventOf(event).number);
  streamOf(stream).items.push_back({{}, placeOf(card, event), eventOf(event).given, true});
  return kDone;
}
DriverResult callHost(DriverStream stream, void (*function)(void *), void *argument) {
  return give(stream, "a host function", {}, [=]() -> std::optional<std::string> {
    function(argument);
    return std::nullopt;
  });
}

// ---- memory ----

DriverResult allocate(DeviceAddress *address, size_t bytes) {
  *address = bytes == 0 ? 0 : world().memory.allocate(current->number, bytes);
  return bytes == 0 ? kInvalidValue : *address ? kDone : kOutOfMemory;
}
DriverResult free(DeviceAddress address) {
  return world().memory.free(address) ? kDone : kInvalidValue;
}
DriverResult copyIn(DeviceAddress to, const void *from, size_t bytes, DriverStream stream) {
  std::byte *memory = world().memory.find(to, bytes);
  if (!memory)
    return kInvalidValue;
  const MemoryUse use{to, bytes, true, "copied in"};
  return give(stream, "a copy from the host", {&use, 1}, [=]() -> std::optional<std::string> {
    std::memcpy(memory, from, bytes);
    return std::nullopt;
  });
}
DriverResult copyOut(void *to, DeviceAddress from, size_t bytes, DriverStream stream) {
  const std::byte *memory = world().memory.find(from, bytes);
  if (!memory)
    return kInvalidValue;
  const MemoryUse use{from, bytes, false, "copied out"};
  return give(stream, "a copy to the host", {&use, 1}, [=]() -> std::optional<std::string> {
    std::memcpy(to, memory, bytes);
    return std::nullopt;
  });
}
DriverResult setBytes(DeviceAddress to, unsigned char value, size_t bytes, DriverStream stream) {
  std::byte *memory = world().memory.find(to, bytes);
  if (!memory)
    return kInvalidValue;
  const MemoryUse use{to, bytes, true, "set"};
  return give(stream, "setting bytes", {&use, 1}, [=]() -> std::optional<std::string> {
    std::memset(memory, value, bytes);
    return std::nullopt;
  });
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

DriverResult launchOn(DriverFunction function, unsigned blocks, unsigned threads,
                      unsigned sharedBytes, DriverStream stream, void **parameters,
                      bool cooperative) {
  const auto &kernel = *reinterpret_cast<const EmulatedKernel *>(function);
  std::vector<MemoryUse> uses = std::move(expected);
  expected.clear();
  if (uses.empty()) // it may touch anything
    world().memory.each([&](DeviceAddress begin, uint64_t bytes, std::byte *) {
      uses.push_back({begin, bytes, true, "memory"});
    });
  const auto *first = static_cast<const std::byte *>(parameters[0]);
  std::vector<std::byte> arguments(first, first + kernel.argumentBytes);
  const gpu::LaunchShape shape{blocks, int(threads), int(sharedBytes), cooperative};
  const uint64_t seed = current->random();
  return give(stream, std::string(kernel.name), uses,
              [=, &kernel, regions = regionsOf(uses)]() -> std::optional<std::string> {
                const FloatMode mode;
                if (auto fault = gpu::launch(kernel.name, kernel.body, arguments.data(), shape,
                                             regions, seed))
                  return fault->text();
                return std::nullopt;
              });
}

DriverResult launch(DriverFunction function, unsigned blocks, unsigned, unsigned, unsigned threads,
                    unsigned, unsigned, unsigned sharedBytes, DriverStream stream,
                    void **parameters, void **) {
  return launchOn(function, blocks, threads, sharedBytes, stream, parameters, false);
}
DriverResult launchTogether(DriverFunction function, unsigned blocks, unsigned, unsigned,
                            unsigned threads, unsigned, unsigned, unsigned sharedBytes,
                            DriverStream stream, void **parameters) {
  return launchOn(function, blocks, threads, sharedBytes, stream, parameters, true);
}

/// A null module has the kernels of this build.
DriverResult loadModule(DriverModule *module, const void *image) {
  std::unique_ptr<EmulatedModule> loaded;
  if (EmulatedModule::isLibrary(image) && !(loaded = EmulatedModule::load(image)))
    return kInvalidImage;
  *module = handleOf<DriverModule>(loaded.release());
  return kDone;
}
DriverResult unloadModule(DriverModule module) {
  delete reinterpret_cast<EmulatedModule *>(module);
  return kDone;
}
DriverResult findFunction(DriverFunction *function, DriverModule module, const char *name) {
  const EmulatedKernel *kernel =
      module ? reinterpret_cast<EmulatedModule *>(module)->find(name) : findKernel(name);
  *function = reinterpret_cast<DriverFunction>(const_cast<EmulatedKernel *>(kernel));
  return kernel ? kDone : kNotFound;
}

// ---- cards ----

DriverResult retain(DriverContext *context, CardNumber card) {
  if (card < 0 || card >= kMaxDevices)
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
  std::lock_guard lock(found.mutex);
  if (--found.contexts == 0) {
    found.fault.clear();
    found.streams.clear();
    found.events.clear();
  }
  return kDone;
}
DriverResult setContext(DriverContext context) {
  current = context ? &cardOf(context) : nullptr;
  return kDone;
}

DriverResult errorName(DriverResult error, const char **text) {
  *text = error == kOutOfMemory    ? "CUDA_ERROR_OUT_OF_MEMORY"
          : error == kLaunchFailed ? "CUDA_ERROR_LAUNCH_FAILED"
          : error == kNotFound     ? "CUDA_ERROR_NOT_FOUND"
                                   : "CUDA_ERROR_INVALID_VALUE";
  return kDone;
}
DriverResult errorText(DriverResult error, const char **text) {
  *text = error == kOutOfMemory    ? "out of memory"
          : error == kLaunchFailed ? faultText.c_str()
          : error == kNotFound     ? "named symbol not found"
                                   : "invalid argument";
  return kDone;
}

DriverResult deviceAttribute(int *value, int attribute, CardNumber) {
  switch (attribute) {
  case kSharedBytesOfBlock:
    *value = gpu::kMaxSharedBytes;
    return kDone;
  case kMultiprocessorCount:
    *value = gpu::kMultiprocessors;
    return kDone;
  case kCapabilityMajor:
    *value = 9;
    return kDone;
  case kCapabilityMinor:
    *value = 0;
    return kDone;
  default:
    return kInvalidValue;
  }
}

Driver makeTable() {
  Driver driver;
  driver.init = [](unsigned) { return kDone + 0; };
  driver.driverVersion = [](int *version) { return *version = 0; };
  driver.errorName = errorName;
  driver.errorText = errorText;
  driver.deviceCount = [](int *count) { return *count = kMaxDevices, kDone + 0; };
  driver.deviceName = [](char *name, int length, CardNumber) {
    std::strncpy(name, "emulated GPU", size_t(length));
    return kDone + 0;
  };
  driver.deviceMemory = [](size_t *bytes, CardNumber) {
    *bytes = size_t(sysconf(_SC_PHYS_PAGES)) * size_t(sysconf(_SC_PAGE_SIZE));
    return kDone + 0;
  };
  driver.deviceAttribute = deviceAttribute;
  driver.pciBusId = [](char *id, int length, CardNumber card) {
    std::snprintf(id, size_t(length), "emulated %d", card);
    return kDone + 0;
  };
  driver.canAccessPeer = [](int *can, CardNumber, CardNumber) { return *can = 1, kDone + 0; };
  driver.retainContext = retain;
  driver.releaseContext = release;
  driver.setContext = setContext;
  driver.enablePeer = [](DriverContext, unsigned) { return kDone + 0; };
  driver.allocate = allocate;
  driver.free = free;
  driver.copyIn = copyIn;
  driver.copyOut = copyOut;
  driver.setBytes = setBytes;
  driver.createStream = createStream;
  driver.destroyStream = destroyStream;
  driver.synchronize = synchronize;
  driver.callHost = callHost;
  driver.createEvent = createEvent;
  driver.destroyEvent = destroyEvent;
  driver.record = record;
  driver.wait = wait;
  driver.loadModule = loadModule;
  driver.unloadModule = unloadModule;
  driver.function = findFunction;
  driver.setAttribute = [](DriverFunction, int, int) { return kDone + 0; };
  driver.launch = launch;
  driver.launchTogether = launchTogether;
  driver.expect = expect;
  return driver;
}

} // namespace

const Driver &emulatedDriver() {
  static const Driver driver = makeTable();
  return driver;
}

std::span<const std::byte *const> emulatedImages() {
  static constexpr std::byte kImage{};
  static constexpr const std::byte *kImages[] = {&kImage};
  return kImages;
}

void seedEmulatedDriver(uint64_t seed) { world().reseed(seed); }

uint64_t emulatedBytes(CardNumber card) { return world().memory.given(card); }

} // namespace lstmc::cuda
