// A launch that the host carries out for a GPU, for operations that have no kernel there.
#pragma once

#include <memory>
#include <vector>

#include "backends/cuda/runtime/Driver.h"
#include "executor/device/Device.h"
#include "executor/device/TeamMemory.h"

namespace lstmc::cuda {

/// Operands are copied to memory of the host, a kernel of the host runs on them, and what it has
/// written is copied back, all in the order of a stream. The memory is taken when it is made.
class HostCall {
public:
  /// `spec` has addresses of the device.
  HostCall(KernelFunction function, LaunchSpec spec);

  /// Gives the stream the copies and the kernel, and waits for the kernel. The first error of the
  /// driver.
  DriverResult giveTo(const Driver &driver, DriverStream stream);

private:
  struct Piece {
    DeviceAddress device;
    std::byte *host;
    size_t bytes;
  };

  void addOperand(Tensor &operand, bool reads, bool writes,
                  const std::vector<std::pair<DeviceAddress, DeviceAddress>> &ranges);
  static void run(void *call);

  KernelFunction function_;
  LaunchSpec spec_;
  std::vector<std::unique_ptr<std::byte[]>> memory_; ///< of each range of operands that overlap
  std::vector<Piece> in_, out_;
  const TeamMemory worker_{1};
};

/// The bytes from an operand's first to its last element, [begin, end); none if it has no elements.
std::pair<DeviceAddress, DeviceAddress> bytesOf(const Tensor &operand);

/// Whether a launch writes, or reads, operand i.
bool writesOperand(const LaunchSpec &spec, size_t i);
bool readsOperand(const LaunchSpec &spec, size_t i);
/// "x"
std::string_view operandName(const LaunchSpec &spec, size_t i);

} // namespace lstmc::cuda
