// Turns buffers and operands of a checked package into tensors in a device's arena: `bind` for
// launches, in the device's own addresses; `view` for the host, which reads and writes them through
// the device.
#pragma once

#include <string>
#include <vector>

#include "executor/base/Status.h"
#include "executor/base/Tensor.h"
#include "executor/device/Device.h"
#include "executor/device/DeviceTensor.h"
#include "executor/package/Package.h"

namespace lstmc::session {

/// All of a buffer.
Tensor bind(const package::Buffer &buffer, const Device &device);
/// An operand's view of its buffer; null data where it is absent.
Tensor bind(const package::PackageData &data, const package::Operand &operand,
            const Device &device);
LaunchSpec bind(const package::Package &package, const package::Launch &launch,
                const Device &device);

DeviceTensor view(const package::Buffer &buffer, Device &device);
/// Absent if the operand is absent.
DeviceTensor view(const package::PackageData &data, const package::Operand &operand,
                  Device &device);

/// dtype, shape and dense strides without memory.
Tensor layoutOf(DType dtype, const std::vector<int64_t> &shape);

/// Copies between tensors in host memory of equal shape and dtype, with any strides.
void copyTensor(const Tensor &from, const Tensor &to);

/// "f32[3, 4]"
std::string typeText(const Tensor &tensor);

} // namespace lstmc::session
