#include "executor/device/StoredTensor.h"

#include <cassert>
#include <utility>

#include "executor/base/Hash.h"

namespace lstmc {

StoredTensor::StoredTensor(std::string name, Tensor shape, std::vector<MemoryRange> ranges)
    : name(std::move(name)), tensor(shape), ranges(std::move(ranges)) {
  tensor.data = this->ranges.size() == 1 ? this->ranges[0].host() : nullptr;
}

StoredTensor::StoredTensor(std::string name, Tensor tensor)
    : name(std::move(name)), tensor(tensor),
      ranges({MemoryRange(
          {tensor.as<std::byte>(), size_t(tensor.elements()) * dtypeBytes(tensor.dtype)})}) {
  assert(tensor.dense());
}

uint64_t StoredTensor::bytes() const {
  uint64_t sum = 0;
  for (const MemoryRange &range : ranges)
    sum += range.size();
  return sum;
}

/// Calls f(range, part) for each of the ranges and the part of `bytes` that is its own.
template <typename Byte, typename F>
static void eachPart(const StoredTensor &tensor, std::span<Byte> bytes, const F &f) {
  assert(bytes.size() == tensor.bytes());
  for (const MemoryRange &range : tensor.ranges) {
    f(range, bytes.first(size_t(range.size())));
    bytes = bytes.subspan(size_t(range.size()));
  }
}

void StoredTensor::read(std::span<std::byte> to) const {
  eachPart(*this, to, [](const MemoryRange &range, auto part) { range.read(0, part); });
}

void StoredTensor::beginRead(std::span<std::byte> to) const {
  eachPart(*this, to, [](const MemoryRange &range, auto part) { range.beginRead(0, part); });
}

void StoredTensor::endRead() const {
  for (const MemoryRange &range : ranges)
    range.endRead();
}

void StoredTensor::write(std::span<const std::byte> from) const {
  eachPart(*this, from, [](const MemoryRange &range, auto part) { range.write(0, part); });
}

void StoredTensor::clear() const {
  for (const MemoryRange &range : ranges)
    range.clear();
}

uint64_t StoredTensor::hash() const {
  if (ranges.size() == 1 && ranges[0].host())
    return hashBytes(ranges[0].host(), size_t(ranges[0].size()));
  StreamedHash hash;
  // No piece is refused.
  (void)eachPiece([&](std::span<const uint8_t> piece) {
    hash.update(piece);
    return Status();
  });
  return hash.finish();
}

} // namespace lstmc
