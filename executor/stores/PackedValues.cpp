#include "executor/stores/PackedValues.h"

#include <algorithm>

#include "executor/ranks/TwoBit.h"

namespace lstmc::stores {

std::vector<std::byte> packValues(std::span<const std::byte> values,
                                  std::span<const uint64_t> sizes) {
  std::vector<std::byte> all;
  std::vector<std::byte> packed;
  for (const uint64_t size : sizes) {
    const std::span<const std::byte> array = values.first(size_t(size));
    values = values.subspan(size_t(size));
    packed.resize(size_t(ranks::twoBitBytes(size / sizeof(float))));
    const bool less =
        size % sizeof(float) == 0 && packed.size() < size && ranks::packTwoBit(array, packed);
    all.push_back(std::byte(less));
    const std::span<const std::byte> sent = less ? std::span<const std::byte>(packed) : array;
    all.insert(all.end(), sent.begin(), sent.end());
  }
  return all;
}

bool unpackValues(std::span<const std::byte> packed, std::span<const uint64_t> sizes,
                  std::span<std::byte> values) {
  for (const uint64_t size : sizes) {
    if (packed.empty() || packed[0] > std::byte(1))
      return false;
    const bool less = packed[0] == std::byte(1);
    const uint64_t bytes = less ? ranks::twoBitBytes(size / sizeof(float)) : size;
    packed = packed.subspan(1);
    if (packed.size() < bytes)
      return false;
    const std::span<std::byte> array = values.first(size_t(size));
    if (less && !ranks::unpackTwoBit(packed.first(size_t(bytes)), array))
      return false;
    if (!less)
      std::ranges::copy(packed.first(size_t(bytes)), array.begin());
    packed = packed.subspan(size_t(bytes));
    values = values.subspan(size_t(size));
  }
  return packed.empty();
}

} // namespace lstmc::stores
