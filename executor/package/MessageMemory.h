// What messages between processes take beside the arenas: a buffer at each end of each message.
#pragma once

#include <cstdint>
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

/// Whether values between these devices of two processes, by name, go from memory to memory where
/// there are channels (executor/device/Channel.h): they are GPUs of one kind.
bool goDirectly(std::string_view from, std::string_view to);

/// Whether the host sees the device's memory; if not, messages take the host's besides.
bool hostSees(const Device &device);

/// The process of each device where so many share them out (rankOfDevice()).
std::vector<int> processesOf(size_t devices, int64_t ranks);

/// Bytes of all buffers at the ends that `device` has of messages with other processes. Where the
/// host does not see its memory, those by which the host copies views with holes are among them.
/// `entries`: by entry, whether it is run. `processes`: of each device. `channels`: whether there
/// are any between GPUs of two processes, which then hold no dense values.
uint64_t messageBytes(const PackageData &data, uint32_t device, const std::vector<bool> &entries,
                      const std::vector<int> &processes, bool channels);
/// Of all entries.
uint64_t messageBytes(const PackageData &data, uint32_t device, const std::vector<int> &processes,
                      bool channels = false);

} // namespace lstmc::package
