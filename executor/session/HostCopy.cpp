#include "executor/session/HostCopy.h"

#include "executor/session/Binding.h"

namespace lstmc::session {

HostCopy::HostCopy(DeviceTensor from, DeviceTensor to, HostPinner *pinner)
    : from_(from), to_(to), dense_(from_.layout.dense() && to_.layout.dense()) {
  const bool seesFrom = from_.range.host(), seesTo = to_.range.host();
  if (!seesFrom && !(dense_ && seesTo))
    room_.resize(size_t(from_.range.size()));
  if (!seesTo && !dense_)
    place_.resize(size_t(to_.range.size()));
  roomPin_ = pinFor(pinner, room_);
  placePin_ = pinFor(pinner, place_);
}

void HostCopy::run(LaunchInterval *time) {
  if (time)
    time->begin = LaunchInterval::Clock::now();
  copy();
  if (time)
    time->end = LaunchInterval::Clock::now();
}

void HostCopy::copy() {
  const auto size = size_t(to_.range.size());
  std::byte *into = to_.range.host();
  if (dense_ && into)
    return from_.range.read(0, {into, size});
  Tensor source = from_.forHost(room_);
  if (dense_)
    return to_.range.write(0, {source.as<const std::byte>(), size});
  Tensor target = to_.forHost(place_);
  copyTensor(source, target);
  if (!into)
    to_.range.write(0, place_);
}

} // namespace lstmc::session
