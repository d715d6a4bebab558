#include "backends/cuda/runtime/GpuDevice.h"

#include <algorithm>

#include "backends/cuda/runtime/GpuDeviceImpl.h"
#include "backends/cuda/runtime/Shape.h"
#include "executor/abi/Packing.h"

namespace lstmc::cuda {

GpuDevice::~GpuDevice() {
  if (!context_)
    return;
  alive_.reset();
  driver_.setContext(context_);
  products_.reset();
  layers_.reset();
  staging_.close();
  small_.close();
  fetching_.close();
  streams_.destroy();
  release();
  for (DriverStream stream : {copies_, ahead_, back_})
    if (stream)
      driver_.destroyStream(stream);
  for (const auto &[file, module] : modules_)
    driver_.unloadModule(module);
  for (DriverModule module : programs_)
    driver_.unloadModule(module);
  driver_.releaseContext(options_.card);
}

Status GpuDevice::open() {
  int cards = 0;
  if (DriverResult error = driver_.deviceCount(&cards))
    return refused(ErrorCode::E0501, "the GPUs cannot be counted", error);
  if (options_.card >= cards)
    return fail(ErrorCode::E0501, "{}: found {} GPU{}, numbered from 0", name_, cards,
                cards == 1 ? "" : "s");
  size_t bytes = 0;
  DriverResult error = driver_.deviceMemory(&bytes, options_.card);
  if (!error)
    error = driver_.retainContext(&context_, options_.card);
  if (!error)
    error = driver_.setContext(context_);
  if (!error)
    error = findShape(driver_, options_.card, shape_);
  shape_.asked = options_.way;
  shape_.tiles = options_.tiles;
  for (const KernelImage &image : options_.images)
    if (DriverModule module = nullptr;
        !error && !(error = driver_.loadModule(&module, image.bytes)))
      modules_[image.file] = module;
  for (DriverStream *stream : {&copies_, &ahead_, &back_})
    if (!error)
      error = driver_.createStream(stream, kStreamNonBlocking);
  if (error)
    return refused(ErrorCode::E0501, "the GPU cannot be used", error);
  staging_.open(copies_);
  small_.open(ahead_);
  fetching_.open(back_);
  memoryBytes_ = bytes;
  alive_ = std::make_shared<const DriverContext>(context_);
  return reserve(1, 0);
}

void GpuDevice::release() {
  staging_.finish();
  small_.finish();
  fetching_.finish();
  for (DriverStream stream : {copies_, ahead_})
    if (stream)
      driver_.synchronize(stream);
  if (arena_)
    driver_.free(arena_);
  arena_ = 0;
  bytes_ = 0;
}

Status GpuDevice::allocate(uint64_t bytes) {
  enter();
  release();
  // A device's views have addresses even if it has no bytes.
  const uint64_t asked = std::max<uint64_t>(bytes, kAlignment);
  DriverResult error = driver_.allocate(&arena_, asked);
  if (!error)
    error = driver_.setBytes(arena_, 0, asked, copies_);
  if (!error)
    error = driver_.synchronize(copies_);
  if (error)
    return refused(ErrorCode::E0901, fmt::format("an arena of {} bytes", bytes), error);
  bytes_ = bytes;
  return {};
}

Status GpuDevice::reserve(uint32_t streams, uint32_t events) {
  enter();
  const DriverResult error = streams_.reserve(streams, events);
  return error ? Status(refused(ErrorCode::E0501, "streams and events", error)) : Status();
}

std::vector<std::string> GpuDevice::choices() {
  std::vector<std::string> all = std::exchange(choices_, {});
  if (products_)
    std::ranges::move(products_->takeChoices(), std::back_inserter(all));
  if (layers_)
    std::ranges::move(layers_->takeChoices(), std::back_inserter(all));
  return all;
}

void GpuDevice::copyIn(uint64_t offset, std::span<const std::byte> from) {
  if (from.empty())
    return;
  enter();
  check(staging_.copyIn(arena_ + offset, from));
}

void GpuDevice::copyOut(uint64_t offset, std::span<std::byte> to) const {
  if (to.empty())
    return;
  enter();
  check(driver_.copyOut(to.data(), arena_ + offset, to.size(), copies_));
  check(driver_.synchronize(copies_));
}

void GpuDevice::copyAhead(uint64_t offset, std::span<const std::byte> from) {
  if (from.empty())
    return;
  enter();
  check(staging_.orderBefore(ahead_)); // copyWithin() has read what is there
  const DeviceAddress to = arena_ + offset;
  check(from.size() < kLeastPinned ? small_.copyIn(to, from)
                                   : driver_.copyIn(to, from.data(), from.size(), ahead_));
}

void GpuDevice::awaitAhead() {
  enter();
  check(small_.finish());
  check(driver_.synchronize(ahead_));
}

void GpuDevice::copyWithin(uint64_t to, uint64_t from, uint64_t bytes) {
  if (bytes == 0)
    return;
  enter();
  check(staging_.copyWithin(arena_ + to, arena_ + from, bytes));
}

void GpuDevice::copyBack(uint64_t offset, std::span<std::byte> to) {
  if (to.empty())
    return;
  enter();
  check(staging_.orderBefore(back_));
  check(fetching_.copyOut(to, arena_ + offset));
}

void GpuDevice::awaitBack() {
  enter();
  check(fetching_.finish());
}

HostPin GpuDevice::pin(std::span<std::byte> bytes) {
  if (bytes.size() < kLeastPinned)
    return nullptr;
  enter();
  if (driver_.pin(bytes.data(), bytes.size(), kPinnedForAll))
    return nullptr;
  std::weak_ptr<const DriverContext> alive = alive_;
  return {bytes.data(), [&driver = driver_, alive](void *memory) {
            const std::shared_ptr<const DriverContext> context = alive.lock();
            if (context && !driver.setContext(*context))
              driver.unpin(memory);
          }};
}

void GpuDevice::clear(uint64_t offset, uint64_t bytes) {
  if (bytes == 0)
    return;
  enter();
  check(driver_.setBytes(arena_ + offset, 0, bytes, copies_));
  check(driver_.synchronize(copies_));
}

/// Cards of one driver that are peers.
bool GpuDevice::reaches(const Device &other) const {
  const auto *peer = dynamic_cast<const GpuDevice *>(&other);
  if (!peer || &peer->driver_ != &driver_)
    return false;
  if (peer->options_.card == options_.card)
    return true;
  int can = 0;
  if (driver_.canAccessPeer(&can, options_.card, peer->options_.card) || !can)
    return false;
  enter();
  const DriverResult error = driver_.enablePeer(peer->context_, 0);
  return error == 0 || error == kPeerAlreadyEnabled;
}

Result<std::unique_ptr<Device>> makeGpuDevice(std::string name, const Driver &driver,
                                              GpuOptions options) {
  auto device = std::make_unique<GpuDevice>(std::move(name), driver, options);
  LSTMC_TRY(device->open());
  return std::unique_ptr<Device>(std::move(device));
}

} // namespace lstmc::cuda
