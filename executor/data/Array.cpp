#include "executor/data/Array.h"

#include <algorithm>

#include <fmt/ranges.h>

namespace lstmc::data {

Tensor Array::tensor() { return denseTensor(bytes.data(), dtype, shape); }

Tensor denseTensor(void *data, DType dtype, std::span<const int64_t> shape) {
  Tensor tensor;
  tensor.data = data;
  tensor.dtype = dtype;
  tensor.rank = int(shape.size());
  int64_t step = 1;
  for (int i = tensor.rank - 1; i >= 0; --i) {
    tensor.shape[i] = shape[size_t(i)];
    tensor.strides[i] = step;
    step *= shape[size_t(i)];
  }
  return tensor;
}

SafeSize arrayBytes(std::span<const int64_t> shape, DType dtype) {
  // Multiply all extents but zeros first, so that a 0 does not hide an overflow of the others.
  SafeSize bytes(dtypeBytes(dtype));
  bool empty = false;
  for (int64_t extent : shape) {
    empty |= extent == 0;
    bytes = bytes * (extent == 0 ? SafeSize(1) : SafeSize::fromSigned(extent));
  }
  return empty && bytes.value() ? SafeSize(0) : bytes;
}

std::string shapeText(std::span<const int64_t> shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

std::span<const uint8_t> bytesOf(const Tensor &tensor) {
  return {tensor.as<const uint8_t>(), size_t(tensor.elements()) * dtypeBytes(tensor.dtype)};
}

std::optional<size_t> firstNoBool(std::span<const uint8_t> bytes) {
  auto bad = std::find_if(bytes.begin(), bytes.end(), [](uint8_t byte) { return byte > 1; });
  if (bad == bytes.end())
    return std::nullopt;
  return size_t(bad - bytes.begin());
}

} // namespace lstmc::data
