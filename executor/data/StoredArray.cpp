#include "executor/data/StoredArray.h"

#include <algorithm>

namespace lstmc::data {
namespace {

void swapBytes(std::span<uint8_t> bytes, size_t width) {
  for (size_t i = 0; i + width <= bytes.size(); i += width)
    std::reverse(bytes.begin() + int64_t(i), bytes.begin() + int64_t(i + width));
}

/// Converts elements from Fortran order (first axis fastest) to C order (last axis fastest).
Bytes fromFortran(const Bytes &bytes, std::span<const int64_t> shape, size_t width) {
  Bytes result(bytes.size());
  std::vector<int64_t> index(shape.size(), 0);
  std::vector<uint64_t> strides(shape.size(), 1); // in elements of `bytes`
  for (size_t i = 1; i < shape.size(); ++i)
    strides[i] = strides[i - 1] * uint64_t(shape[i - 1]);
  uint64_t from = 0;
  for (uint64_t to = 0; to + width <= bytes.size(); to += width) {
    std::copy_n(bytes.begin() + int64_t(from * width), width, result.begin() + int64_t(to));
    for (size_t axis = shape.size(); axis-- > 0;) {
      from += strides[axis];
      if (++index[axis] < shape[axis])
        break;
      from -= strides[axis] * uint64_t(shape[axis]);
      index[axis] = 0;
    }
  }
  return result;
}

/// Appends the elements in C order. Those with adjacent indices of the first axis are adjacent in
/// Fortran order, so that a slab of these is read in runs.
Status appendFromFortran(const StoredBytes &elements, std::span<const int64_t> shape, size_t width,
                         bool bigEndian, StoredBytesWriter &to) {
  constexpr uint64_t kSlab = 16 << 20;
  const uint64_t first = uint64_t(shape[0]), rest = elements.size() / width / first;
  const uint64_t most = std::max<uint64_t>(1, kSlab / (rest * width));
  std::vector<int64_t> slabShape(shape.begin(), shape.end());
  for (uint64_t begin = 0; begin < first; begin += most) {
    const uint64_t count = std::min(most, first - begin);
    Bytes slab(count * rest * width);
    for (uint64_t run = 0; run < rest; ++run)
      LSTMC_TRY(elements.readTo((run * first + begin) * width,
                                std::span(slab).subspan(run * count * width, count * width)));
    if (bigEndian)
      swapBytes(slab, width);
    slabShape[0] = int64_t(count);
    LSTMC_TRY(to.append(fromFortran(slab, slabShape, width)));
  }
  return {};
}

} // namespace

Result<StoredArray> StoredArray::of(DType dtype, std::vector<int64_t> shape, StoredBytes elements,
                                    ElementOrder order) {
  const size_t width = dtypeBytes(dtype);
  order.bigEndian &= width > 1;
  order.fortran &= shape.size() > 1 && elements.size() > 0;
  StoredArray array(Array{dtype, std::move(shape), {}});
  if (elements.inMemory()) {
    Bytes &bytes = array.array_.bytes;
    LSTMC_ASSIGN(bytes, std::move(elements).take());
    if (order.bigEndian)
      swapBytes(bytes, width);
    if (order.fortran)
      bytes = fromFortran(bytes, array.shape(), width);
    return array;
  }
  if (order.bigEndian || order.fortran) {
    StoredBytesWriter converted(/*held=*/0);
    if (order.fortran)
      LSTMC_TRY(appendFromFortran(elements, array.shape(), width, order.bigEndian, converted));
    else
      LSTMC_TRY(elements.eachBlock([&](std::span<const uint8_t> block) {
        Bytes swapped(block.begin(), block.end());
        swapBytes(swapped, width);
        return converted.append(swapped);
      }));
    LSTMC_ASSIGN(elements, std::move(converted).finish());
  }
  array.elements_ = std::move(elements);
  return array;
}

int64_t StoredArray::elements() const {
  int64_t all = 1;
  for (int64_t extent : array_.shape)
    all *= extent;
  return all;
}

Result<const uint8_t *> StoredArray::read(int64_t first, int64_t count, Bytes &buffer) const {
  uint64_t width = dtypeBytes(array_.dtype), at = uint64_t(first) * width;
  if (!elements_)
    return array_.bytes.data() + at;
  LSTMC_ASSIGN(std::span<const uint8_t> bytes,
               elements_->read(at, uint64_t(count) * width, buffer));
  return bytes.data();
}

Status
StoredArray::eachPart(const std::function<Status(const uint8_t *, int64_t, int64_t)> &take) const {
  Bytes buffer;
  const int64_t all = elements();
  constexpr int64_t kPart = 1 << 16;
  for (int64_t first = 0; first < all; first += kPart) {
    int64_t count = std::min(kPart, all - first);
    LSTMC_ASSIGN(const uint8_t *elements, read(first, count, buffer));
    LSTMC_TRY(take(elements, first, count));
  }
  return {};
}

Result<Array> StoredArray::held() && {
  if (elements_) {
    LSTMC_ASSIGN(array_.bytes, std::move(*elements_).take());
    elements_.reset();
  }
  return std::move(array_);
}

} // namespace lstmc::data
