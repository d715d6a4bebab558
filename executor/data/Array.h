// Arrays that own their elements, as the readers of array files return them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "executor/base/InputFile.h"
#include "executor/base/SafeSize.h"
#include "executor/base/Tensor.h"

namespace lstmc::data {

/// A dense row-major array in host byte order. No reader makes one of rank above kMaxRank.
struct Array {
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  Bytes bytes;

  /// A view of the whole array, for kernels. Valid as long as the array lives.
  Tensor tensor();
};

struct NamedArray {
  std::string name;
  Array array;
};

/// Dense memory that somebody else owns, with a name: what the writers write.
struct NamedTensor {
  std::string name;
  Tensor tensor;
};

/// A dense view of `data`.
Tensor denseTensor(void *data, DType dtype, std::span<const int64_t> shape);

/// Bytes of a dense array; no value if an extent is negative or the product overflows.
SafeSize arrayBytes(std::span<const int64_t> shape, DType dtype);

/// "[32, 64]"
std::string shapeText(std::span<const int64_t> shape);
inline std::span<const int64_t> shapeOf(const Tensor &tensor) {
  return {tensor.shape.data(), size_t(tensor.rank)};
}
std::span<const uint8_t> bytesOf(const Tensor &tensor);

/// Position of the first byte that is neither 0 nor 1, if any. Such a bool is refused.
std::optional<size_t> firstNoBool(std::span<const uint8_t> bytes);

} // namespace lstmc::data
