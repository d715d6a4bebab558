// Bytes between the memories of two devices of two processes, without the host's memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "executor/base/Status.h"

namespace lstmc {

/// Tells a channel from all others. Made at the sender's end, and brought to the receiver's.
using ChannelId = std::array<std::byte, 128>;

/// One end of a way from one device to another. What the two ends begin has to match, one by one,
/// in order and in size: nothing on the way checks that. No function waits. Used by one thread.
class Channel {
public:
  virtual ~Channel() = default; ///< ends what is under way

  /// Whether what was begun last is done; at first, opening. E0803.
  virtual Result<bool> done() = 0;
  /// Begins to send bytes of the device's memory, or to receive into it. The one before is done.
  virtual Status begin(std::byte *at, uint64_t bytes) = 0;
};

/// What a device is besides if it may have channels: to devices of its kind in other processes. To
/// be used by one thread, which may be another than the device's.
class ChannelMaker {
public:
  virtual ~ChannelMaker() = default;

  virtual bool hasChannels() const = 0;
  virtual Result<ChannelId> newChannel() = 0;
  /// Begins to open an end of a channel, whose other end another process opens. The device outlives
  /// it.
  virtual Result<std::unique_ptr<Channel>> openChannel(const ChannelId &id, bool sends) = 0;
};

} // namespace lstmc
