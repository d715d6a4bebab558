// Memory of the host that a device copies from and to again and again.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace lstmc {

/// Holds bytes where they are, for a device, until it is destroyed; they are freed later. It may
/// outlive the device.
using HostPin = std::shared_ptr<void>;

/// What a device is besides if it copies faster where the system does not move the host's memory.
class HostPinner {
public:
  virtual ~HostPinner() = default;
  /// Null where nothing is gained, or where the system refuses: copies are slower then.
  virtual HostPin pin(std::span<std::byte> bytes) = 0;
};

/// The same of any device, which may be none (null) of this kind.
inline HostPin pinFor(HostPinner *pinner, std::span<std::byte> bytes) {
  return pinner ? pinner->pin(bytes) : nullptr;
}

} // namespace lstmc
