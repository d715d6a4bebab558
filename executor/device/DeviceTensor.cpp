#include "executor/device/DeviceTensor.h"

namespace lstmc {

Tensor DeviceTensor::forHost(std::vector<std::byte> &scratch) const {
  Tensor tensor = layout;
  if (!present)
    return tensor;
  std::byte *begin = range.host();
  if (!begin) {
    if (scratch.size() < range.size())
      scratch.resize(size_t(range.size()));
    range.read(0, std::span(scratch).first(size_t(range.size())));
    begin = scratch.data();
  }
  tensor.data = begin + first;
  return tensor;
}

Tensor DeviceTensor::forLaunch() const {
  Tensor tensor = layout;
  if (present)
    tensor.data = range.address() + first;
  return tensor;
}

} // namespace lstmc
