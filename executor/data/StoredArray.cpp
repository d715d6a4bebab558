#include "executor/data/StoredArray.h"

#include <algorithm>

namespace lstmc::data {

int64_t StoredArray::elements() const {
  int64_t all = 1;
  for (int64_t extent : array_.shape)
    all *= extent;
  return all;
}

Result<const uint8_t *> StoredArray::read(int64_t first, int64_t count, Bytes &buffer) const {
  uint64_t width = dtypeBytes(array_.dtype), at = uint64_t(first) * width;
  if (!file_)
    return array_.bytes.data() + at;
  buffer.resize(uint64_t(count) * width);
  LSTMC_TRY(file_->read(begin_ + at, buffer));
  return std::as_const(buffer).data();
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

} // namespace lstmc::data
