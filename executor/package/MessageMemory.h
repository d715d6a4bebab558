// What messages take beside the arenas: buffers of the host, at each end of a message between
// processes, and where the host copies between two devices.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "executor/package/PackageData.h"

namespace lstmc::package {

/// Before each value, to show that it is the one that is waited for (executor/ranks/Header.h).
inline constexpr uint64_t kMessageHeaderBytes = 64;

/// Bytes of so many f32 values in two bits each (executor/ranks/TwoBit.h): a number, then codes.
constexpr uint64_t twoBitBytes(uint64_t count) { return sizeof(float) + (count + 3) / 4; }

/// The buffers at one end of a message.
struct MessageBuffers {
  uint64_t whole = 0;  ///< header and value
  uint64_t packed = 0; ///< header and value in two bits each; 0 where that is no less
};
MessageBuffers messageBuffers(DType dtype, uint64_t elements);

/// Header, and the receiver's answer, at each end of a message whose value no host holds.
inline constexpr uint64_t kDirectMessageBytes = kMessageHeaderBytes + sizeof(uint64_t);

/// Header, where the value is, and the receiver's answer, at each end of a message that the
/// receiver reads from the sender's memory.
inline constexpr uint64_t kPulledMessageBytes = kMessageHeaderBytes + 3 * sizeof(uint64_t);

/// Whether a dense value between these devices of two processes, by name, is read so where the
/// processes may: a small one comes with its header.
bool isPulled(std::string_view from, std::string_view to, uint64_t bytes);

/// Whether values between these devices of two processes, by name, go from memory to memory where
/// there are channels (executor/device/Channel.h): they are GPUs of one kind.
bool goDirectly(std::string_view from, std::string_view to);

/// Whether the host sees the memory of a device of this name; if not, messages take the host's
/// besides.
bool hostSees(std::string_view device);
inline bool hostSees(const Device &device) { return hostSees(device.name); }

/// The process of each device where so many share them out (rankOfDevice()).
std::vector<int> processesOf(size_t devices, int64_t ranks);

/// What messages go by.
struct MessageWays {
  std::vector<int> processes; ///< of each device
  /// Whether there are channels between GPUs of two processes, which then hold no dense values.
  bool channels = false;
  /// Whether processes read one another's memory: the host then holds no large dense values of
  /// devices whose memory it sees.
  bool pulled = false;
  std::vector<std::string> names = {}; ///< of the devices in use; empty: as the package has them
  /// Whether a device copies from another one's memory by itself; empty: where both are of one
  /// kind, and where the host sees both.
  std::function<bool(uint32_t to, uint32_t from)> reaches = nullptr;
};

/// Bytes of the host that `device` is to keep for messages. With other processes: the buffers at
/// its ends. Within its own: those by which the host copies between two devices that do not reach
/// each other; they count for the one whose memory the host sees, else for the receiver. `entries`:
/// by entry, whether it is run.
uint64_t messageBytes(const PackageData &data, uint32_t device, const std::vector<bool> &entries,
                      const MessageWays &ways);
/// Of all entries.
uint64_t messageBytes(const PackageData &data, uint32_t device, const MessageWays &ways);

} // namespace lstmc::package
