// From a checked package's buffers and operands to tensors in a device's arena.
#pragma once

#include <string>
#include <vector>

#include "executor/base/Status.h"
#include "executor/base/Tensor.h"
#include "executor/device/Device.h"
#include "executor/package/Package.h"

namespace lstmc::session {

/// All of a buffer.
Tensor bind(const package::Buffer &buffer, const Device &device);
/// An operand's view of its buffer; null data where it is absent.
Tensor bind(const package::PackageData &data, const package::Operand &operand,
            const Device &device);
LaunchSpec bind(const package::Package &package, const package::Launch &launch,
                const Device &device);

/// Copies between equal shapes and dtypes, any strides.
void copyTensor(const Tensor &from, const Tensor &to);

/// "f32[3, 4]"
std::string typeText(const Tensor &tensor);

} // namespace lstmc::session
