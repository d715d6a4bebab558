// A copy between the memories of two devices that do not reach each other, by the host.
#pragma once

#include <cstddef>
#include <vector>

#include "executor/device/DeviceTensor.h"

namespace lstmc::session {

/// Of equal types and shapes, any strides; bytes between the elements of `to` keep what they hold.
/// What the host sees is read and written where it lies; what it does not see goes through
/// Device::copyOut and copyIn, and through a room that is made here, so run() allocates nothing.
/// The devices outlive it.
class HostCopy {
public:
  HostCopy(DeviceTensor from, DeviceTensor to);

  /// `time`, unless null, takes from when to when.
  void run(LaunchInterval *time = nullptr);

private:
  void copy();

  const DeviceTensor from_, to_;
  const bool dense_; ///< both: bytes can go from the one to the other as they are
  std::vector<std::byte> room_, place_; ///< copies of what is read and of what is written
};

} // namespace lstmc::session
