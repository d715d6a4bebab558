// Copies, by the host, between two devices that cannot access each other's memory.
#pragma once

#include <cstddef>
#include <vector>

#include "executor/device/DeviceTensor.h"
#include "executor/device/HostPinner.h"

namespace lstmc::session {

/// Copies between tensors of equal type and shape, with any strides; bytes between the elements of
/// `to` keep their values. Memory that the host can see is accessed directly. Other memory is
/// accessed by Device::copyOut and copyIn, with staging buffers that the constructor allocates, so
/// run() allocates nothing. The devices outlive it.
class HostCopy {
public:
  /// `pinner`, unless null, is the device whose memory is copied: it pins the staging buffers.
  HostCopy(DeviceTensor from, DeviceTensor to, HostPinner *pinner = nullptr);

  /// `time`, unless null, receives begin and end.
  void run(LaunchInterval *time = nullptr);

  uint64_t stagingBytes() const { return room_.size() + place_.size(); }

private:
  void copy();

  const DeviceTensor from_, to_;
  const bool dense_;                    ///< both tensors: the bytes can be copied as they are
  std::vector<std::byte> room_, place_; ///< staging buffers for reading and for writing
  HostPin roomPin_, placePin_;
};

} // namespace lstmc::session
