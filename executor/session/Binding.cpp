#include "executor/session/Binding.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "executor/abi/Hull.h"
#include "executor/package/Plan.h"

namespace lstmc::session {

Tensor layoutOf(DType dtype, const std::vector<int64_t> &shape) {
  Tensor tensor;
  tensor.dtype = dtype;
  tensor.rank = int(shape.size());
  int64_t step = 1;
  for (size_t i = shape.size(); i-- > 0; step *= shape[i]) {
    tensor.shape[i] = shape[i];
    tensor.strides[i] = step;
  }
  return tensor;
}

/// With the operand's strides if it gives any.
static Tensor layoutOf(const package::PackageData &data, const package::Operand &operand) {
  Tensor tensor = layoutOf(data.buffers[operand.buffer].dtype, operand.shape);
  std::copy(operand.strides.begin(), operand.strides.end(), tensor.strides.begin());
  return tensor;
}

Tensor bind(const package::Buffer &buffer, const Device &device) {
  Tensor tensor = layoutOf(buffer.dtype, buffer.shape);
  tensor.data = device.arena() + buffer.offset;
  return tensor;
}

Tensor bind(const package::PackageData &data, const package::Operand &operand,
            const Device &device) {
  if (operand.buffer == package::kNoBuffer)
    return {};
  const package::Buffer &buffer = data.buffers[operand.buffer];
  Tensor tensor = layoutOf(data, operand);
  tensor.data =
      device.arena() + buffer.offset + uint64_t(operand.offset) * dtypeBytes(buffer.dtype);
  return tensor;
}

DeviceTensor view(const package::Buffer &buffer, Device &device) {
  const Tensor layout = layoutOf(buffer.dtype, buffer.shape);
  const uint64_t bytes = uint64_t(layout.elements()) * dtypeBytes(buffer.dtype);
  return {layout, MemoryRange(device, buffer.offset, bytes), 0, true};
}

DeviceTensor view(const package::PackageData &data, const package::Operand &operand,
                  Device &device) {
  if (operand.buffer == package::kNoBuffer)
    return {};
  const package::Buffer &buffer = data.buffers[operand.buffer];
  const Tensor layout = layoutOf(data, operand);
  const auto rank = size_t(layout.rank);
  const auto width = int64_t(dtypeBytes(buffer.dtype));
  Hull hull{0, -1};          // no elements
  if (layout.elements() > 0) // inside the buffer, as the package's check has shown
    hull = *hullOf(std::span(layout.shape).first(rank), std::span(layout.strides).first(rank));
  const MemoryRange range(device, buffer.offset + uint64_t((operand.offset + hull.low) * width),
                          uint64_t((hull.high - hull.low + 1) * width));
  return {layout, range, uint64_t(-hull.low * width), true};
}

/// "lstm0 rnn_forward net.lnet:12"; the op, where several of that place have names.
static std::string labelOf(const package::PackageData &data, const package::Launch &launch) {
  const package::Location &location = data.locations[launch.location];
  std::string text = package::opNameOf(data, location);
  if (text.empty())
    text = location.op;
  text += fmt::format("{}{}", text.empty() ? "" : " ", kernelRecord(launch.kernel).name);
  if (location.line)
    text += fmt::format(" {}:{}", location.file, location.line);
  return text;
}

LaunchSpec bind(const package::Package &package, const package::Launch &launch,
                const Device &device) {
  LaunchSpec spec{launch.kernel, {}, launch.ints, launch.floats};
  spec.operands.reserve(launch.operands.size());
  for (const package::Operand &operand : launch.operands)
    spec.operands.push_back(bind(package.data(), operand, device));
  if (launch.kernel == KernelId::Fused)
    spec.program = &programOf(package.data(), launch);
  if (device.wantsLabels())
    spec.label = labelOf(package.data(), launch);
  spec.fast = *fastRulesOf(package.data().numerics); // checked when it was opened
  return spec;
}

void copyTensor(const Tensor &from, const Tensor &to) {
  assert(from.dtype == to.dtype && from.rank == to.rank && from.shape == to.shape);
  size_t bytes = dtypeBytes(from.dtype);
  if (from.dense() && to.dense()) {
    std::memmove(to.data, from.data, size_t(from.elements()) * bytes);
    return;
  }
  std::array<int64_t, kMaxRank> index{};
  for (int64_t left = from.elements(); left > 0; --left) {
    int64_t source = 0, target = 0;
    for (size_t i = 0; i < size_t(from.rank); ++i) {
      source += index[i] * from.strides[i];
      target += index[i] * to.strides[i];
    }
    std::memcpy(static_cast<std::byte *>(to.data) + target * int64_t(bytes),
                static_cast<const std::byte *>(from.data) + source * int64_t(bytes), bytes);
    for (int axis = from.rank - 1; axis >= 0 && ++index[size_t(axis)] == from.shape[size_t(axis)];
         --axis)
      index[size_t(axis)] = 0;
  }
}

std::string typeText(const Tensor &tensor) {
  return package::typeText(tensor.dtype,
                           std::vector(tensor.shape.begin(), tensor.shape.begin() + tensor.rank));
}

} // namespace lstmc::session
