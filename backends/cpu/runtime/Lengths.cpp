#include "backends/cpu/runtime/Lengths.h"

#include <algorithm>

#include "executor/base/Numeric.h"

namespace lstmc::cpu {

int64_t lengthAt(const Tensor &lengths, int64_t b, int64_t steps) {
  return std::clamp<int64_t>(
      readElement<int64_t>(lengths.data, lengths.dtype, b * lengths.strides[0]), 0, steps);
}

int64_t indexAt(const Tensor &indices, int64_t offset, int64_t extent) {
  return std::clamp<int64_t>(readElement<int64_t>(indices.data, indices.dtype, offset), 0,
                             extent - 1);
}

} // namespace lstmc::cpu
