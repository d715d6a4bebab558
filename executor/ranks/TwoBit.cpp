#include "executor/ranks/TwoBit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace lstmc::ranks {

namespace {

constexpr uint32_t kSign = 0x80000000u;
enum Code : uint32_t { kZero = 0, kInvalid = 1, kMinus = 2, kPlus = 3 };

uint32_t bitsAt(std::span<const std::byte> values, size_t index) {
  uint32_t bits;
  std::memcpy(&bits, values.data() + index * sizeof(bits), sizeof(bits));
  return bits;
}

bool isThreshold(uint32_t bits) {
  float t;
  std::memcpy(&t, &bits, sizeof(t));
  return std::isfinite(t) && t > 0;
}

int shiftOf(size_t index) { return int(6 - 2 * (index % 4)); }

} // namespace

bool packTwoBit(std::span<const std::byte> values, std::span<std::byte> packed) {
  const size_t count = values.size() / sizeof(float);
  uint32_t t = 0;
  for (size_t i = 0; i < count;) {
    uint32_t codes = 0;
    for (size_t end = std::min(count, i + 4); i < end; ++i) {
      const uint32_t bits = bitsAt(values, i);
      if (bits == 0)
        continue;
      if (t == 0 && isThreshold(bits & ~kSign))
        t = bits & ~kSign;
      if (t == 0 || (bits & ~kSign) != t)
        return false;
      codes |= (bits & kSign ? kMinus : kPlus) << shiftOf(i);
    }
    packed[sizeof(t) + (i - 1) / 4] = std::byte(codes);
  }
  std::memcpy(packed.data(), &t, sizeof(t));
  return true;
}

bool unpackTwoBit(std::span<const std::byte> packed, std::span<std::byte> values) {
  const uint32_t t = bitsAt(packed, 0);
  auto codeAt = [&](size_t i) { return uint32_t(packed[sizeof(t) + i / 4]) >> shiftOf(i) & 3; };
  const size_t count = values.size() / sizeof(float);
  bool any = false;
  for (size_t i = 0; i < count; ++i) {
    if (codeAt(i) == kInvalid)
      return false;
    any |= codeAt(i) != kZero;
  }
  if (any ? !isThreshold(t) : t != 0)
    return false;
  const std::array<uint32_t, 4> numbers{0, 0, t | kSign, t};
  for (size_t i = 0; i < count; ++i)
    std::memcpy(values.data() + i * sizeof(t), &numbers[codeAt(i)], sizeof(t));
  return true;
}

} // namespace lstmc::ranks
