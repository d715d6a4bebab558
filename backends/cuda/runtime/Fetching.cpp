#include "backends/cuda/runtime/Fetching.h"

#include <cstring>

#include "executor/abi/Packing.h"
#include "executor/abi/Sizes.h"

namespace lstmc::cuda {

void Fetching::close() {
  finish();
  memory_.close();
}

DriverResult Fetching::copyOut(std::span<std::byte> to, DeviceAddress from) {
  std::lock_guard lock(mutex_);
  underWay_ = true;
  if (to.size() > kBytes - used_)
    return driver_.copyOut(to.data(), from, to.size(), stream_);
  std::byte *place = memory_.get() + used_;
  used_ += size_t(roundUp(int64_t(to.size()), kAlignment));
  pieces_.push_back({to, place});
  return driver_.copyOut(place, from, to.size(), stream_);
}

DriverResult Fetching::finish() {
  std::lock_guard lock(mutex_);
  if (!underWay_)
    return 0;
  const DriverResult error = driver_.synchronize(stream_);
  if (!error)
    for (const Piece &piece : pieces_)
      std::memcpy(piece.to.data(), piece.from, piece.to.size());
  pieces_.clear();
  used_ = 0;
  underWay_ = false;
  return error;
}

} // namespace lstmc::cuda
