#include "backends/cuda/runtime/Staging.h"

#include <cstring>
#include <new>

namespace lstmc::cuda {

void Staging::close() {
  finish();
  if (copied_)
    driver_.destroyEvent(copied_);
  if (pinned_)
    driver_.unpin(memory_.get());
  copied_ = nullptr;
  pinned_ = false;
}

DriverResult Staging::makeMemory() {
  constexpr size_t kPage = 4096;
  memory_.reset(static_cast<std::byte *>(std::aligned_alloc(kPage, bytes_)));
  if (!memory_)
    throw std::bad_alloc();
  // Where the system refuses, the driver copies by way of memory of its own.
  pinned_ = driver_.pin(memory_.get(), bytes_, kPinnedForAll) == 0;
  return makeEvent();
}

DriverResult Staging::makeEvent() {
  return copied_ ? 0 : driver_.createEvent(&copied_, kEventWithoutTiming);
}

DriverResult Staging::copyWithin(DeviceAddress to, DeviceAddress from, size_t bytes) {
  std::lock_guard lock(mutex_);
  DriverResult error = makeEvent();
  if (!error)
    error = driver_.copyWithin(to, from, bytes, stream_);
  ahead_ = underWay_ = true;
  return error;
}

DriverResult Staging::copyIn(DeviceAddress to, std::span<const std::byte> from) {
  std::lock_guard lock(mutex_);
  DriverResult error = memory_ ? 0 : makeMemory();
  if (error)
    return error;
  if (from.size() > bytes_) { // which the driver does in pieces, also side by side
    error = driver_.copyIn(to, from.data(), from.size(), stream_);
    return error ? error : driver_.synchronize(stream_);
  }
  if (from.size() > bytes_ - used_) {
    error = driver_.synchronize(stream_);
    used_ = 0;
  }
  std::byte *place = memory_.get() + used_;
  std::memcpy(place, from.data(), from.size());
  if (!error)
    error = driver_.copyIn(to, place, from.size(), stream_);
  used_ += from.size();
  ahead_ = underWay_ = true;
  return error;
}

DriverResult Staging::orderBefore(const Streams &streams) {
  std::lock_guard lock(mutex_);
  if (!ahead_)
    return 0;
  ahead_ = false;
  const DriverResult error = driver_.record(copied_, stream_);
  return error ? error : streams.waitFor(copied_);
}

DriverResult Staging::orderBefore(DriverStream other) {
  std::lock_guard lock(mutex_);
  if (!underWay_)
    return 0;
  const DriverResult error = driver_.record(copied_, stream_);
  return error ? error : driver_.wait(other, copied_, 0);
}

DriverResult Staging::finish() {
  std::lock_guard lock(mutex_);
  if (!underWay_)
    return 0;
  used_ = 0;
  underWay_ = false;
  ahead_ = false; // whatever comes now comes after them
  return driver_.synchronize(stream_);
}

} // namespace lstmc::cuda
