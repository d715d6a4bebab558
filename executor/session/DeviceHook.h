// A place for tests to delay or stop a device.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <string_view>

namespace lstmc {

/// A device's thread, come to the next segment of its program.
struct DeviceMoment {
  size_t device;
  std::string_view entry;
  size_t launch; ///< the segment's first
  /// Another device has failed, or has waited too long: to leave now.
  const std::atomic<bool> &stopped;
};

/// Called on the device's thread. May take its time, and throw; must return once `stopped`.
using DeviceHook = std::function<void(const DeviceMoment &)>;

} // namespace lstmc
