#include "backends/cuda/runtime/Staging.h"

#include <cstring>

namespace lstmc::cuda {

void Staging::close() {
  finish();
  if (copied_)
    driver_.destroyEvent(copied_);
  copied_ = nullptr;
  memory_.close();
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
  std::byte *const memory = memory_.get();
  DriverResult error = makeEvent();
  if (error)
    return error;
  if (from.size() > memory_.bytes()) { // which the driver does in pieces, also side by side
    error = driver_.copyIn(to, from.data(), from.size(), stream_);
    return error ? error : driver_.synchronize(stream_);
  }
  if (from.size() > memory_.bytes() - used_) {
    error = driver_.synchronize(stream_);
    used_ = 0;
  }
  std::byte *place = memory + used_;
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
