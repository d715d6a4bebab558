// A place for tests to delay or stop a device.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <string_view>

namespace lstmc {

/// A device that is about to run the next segment of its program.
struct DeviceMoment {
  size_t device;
  std::string_view entry;
  size_t launch; ///< the segment's first launch
  /// Set when another device has failed or waited too long: the hook must return now.
  const std::atomic<bool> &stopped;
};

/// Called on the device's thread. May take any time and may throw; must return once `stopped` is
/// set.
using DeviceHook = std::function<void(const DeviceMoment &)>;

} // namespace lstmc
