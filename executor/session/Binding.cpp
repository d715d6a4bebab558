#include "executor/session/Binding.h"

#include <cassert>
#include <cstring>

#include "executor/package/Plan.h"

namespace lstmc::session {

namespace {

Tensor bindDense(void *data, DType dtype, const std::vector<int64_t> &shape) {
  Tensor tensor;
  tensor.data = data;
  tensor.dtype = dtype;
  tensor.rank = int(shape.size());
  int64_t step = 1;
  for (size_t i = shape.size(); i-- > 0; step *= shape[i]) {
    tensor.shape[i] = shape[i];
    tensor.strides[i] = step;
  }
  return tensor;
}

} // namespace

Tensor bind(const package::Buffer &buffer, const Device &device) {
  return bindDense(device.arena() + buffer.offset, buffer.dtype, buffer.shape);
}

Tensor bind(const package::PackageData &data, const package::Operand &operand,
            const Device &device) {
  if (operand.buffer == package::kNoBuffer)
    return {};
  const package::Buffer &buffer = data.buffers[operand.buffer];
  std::byte *first =
      device.arena() + buffer.offset + uint64_t(operand.offset) * dtypeBytes(buffer.dtype);
  Tensor tensor = bindDense(first, buffer.dtype, operand.shape);
  for (size_t i = 0; i < operand.strides.size(); ++i)
    tensor.strides[i] = operand.strides[i];
  return tensor;
}

LaunchSpec bind(const package::Package &package, const package::Launch &launch,
                const Device &device) {
  LaunchSpec spec{launch.kernel, {}, launch.ints, launch.floats};
  spec.operands.reserve(launch.operands.size());
  for (const package::Operand &operand : launch.operands)
    spec.operands.push_back(bind(package.data(), operand, device));
  if (launch.kernel == KernelId::Fused)
    spec.program = &programOf(package.data(), launch);
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
