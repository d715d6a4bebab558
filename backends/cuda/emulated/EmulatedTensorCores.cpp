#include "backends/cuda/emulated/EmulatedTensorCores.h"

#include <bit>
#include <cmath>

namespace lstmc::gpu::tensor {

namespace {

constexpr int kRows = 16, kColumns = 8, kWords = 8;

float ofBf16(uint32_t bits) { return std::bit_cast<float>(bits << 16); }

float ofFp16(uint32_t bits) {
  const uint32_t exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff;
  const uint32_t sign = (bits & 0x8000) << 16;
  if (exponent == 0) {
    const float value = float(fraction) * 0x1p-24f;
    return sign ? -value : value;
  }
  return std::bit_cast<float>(sign | (exponent == 0x1f ? 0xff : exponent + 112) << 23 |
                              fraction << 13);
}

float ofTf32(uint32_t bits) { return std::bit_cast<float>(bits); }

/// `pack` numbers to a word, the lowest bits first.
template <int pack, float (*number)(uint32_t)> void multiply(void *const *parts) {
  auto lane = [&](int group, int place) -> Part & {
    return *static_cast<Part *>(parts[group * 4 + place]);
  };
  constexpr int kDepth = kWords * pack;
  float a[kRows][kDepth], b[kDepth][kColumns];
  auto unpack = [](uint32_t word, int i) {
    return number(pack == 1 ? word : word >> 16 * i & 0xffff);
  };
  for (int word = 0; word < kWords; ++word)
    for (int i = 0; i < pack; ++i) {
      for (int row = 0; row < kRows; ++row)
        a[row][word * pack + i] = unpack(lane(row % 8, word % 4).a[word / 4 * 2 + row / 8], i);
      for (int column = 0; column < kColumns; ++column)
        b[word * pack + i][column] = unpack(lane(column, word % 4).b[word / 4], i);
    }
  for (int row = 0; row < kRows; ++row)
    for (int column = 0; column < kColumns; ++column) {
      float &sum = lane(row % 8, column / 2).c[row / 8 * 2 + column % 2];
      for (int k = 0; k < kDepth; ++k)
        sum = std::fma(a[row][k], b[k][column], sum);
    }
}

} // namespace

void multiplyBf16(void *const *parts) { multiply<2, ofBf16>(parts); }
void multiplyFp16(void *const *parts) { multiply<2, ofFp16>(parts); }
void multiplyTf32(void *const *parts) { multiply<1, ofTf32>(parts); }

uint16_t bf16Bits(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return 0x7fff;
  return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

uint16_t fp16Bits(float value) {
  const auto all = std::bit_cast<uint32_t>(value);
  const uint32_t sign = all >> 16 & 0x8000, bits = all & 0x7fffffff;
  if (bits > 0x7f800000)
    return 0x7fff;
  if (bits >= 0x477ff000) // 65,520, from where it is nearer to 65,536
    return uint16_t(sign | 0x7c00);
  if (bits >= 0x38800000) // 2^-14, the least that is not denormal
    return uint16_t(sign | (((bits + 0xfff + (bits >> 13 & 1)) >> 13) - (112 << 10)));
  return uint16_t(sign | uint32_t(std::nearbyint(std::bit_cast<float>(bits) * 0x1p24f)));
}

} // namespace lstmc::gpu::tensor
