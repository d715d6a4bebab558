// Fragments and roundings of tensor cores on the emulated GPU, against plain loops.
#include <cmath>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "backends/cuda/emulated/Machine.h"
#include "backends/cuda/kernels/TensorCores.h"

namespace lstmc::gpu {
namespace {

struct Matrices {
  Global<const float> a, b; ///< [16, depth], [depth, 8]
  Global<float> c;          ///< [16, 8]
};

/// c += a b, by one warp.
template <typename Rule> void addProduct(const Matrices &m) {
  const int group = laneIndex() / 4, place = laneIndex() % 4;
  auto word = [&](Global<const float> from, int first, int step) {
    return Rule::word(from.load(first), Rule::kPack > 1 ? from.load(first + step) : 0);
  };
  uint32_t a[4], b[2];
  for (int i = 0; i < 4; ++i)
    a[i] = word(m.a, (group + i % 2 * 8) * Rule::kDepth + (place + i / 2 * 4) * Rule::kPack, 1);
  for (int i = 0; i < 2; ++i)
    b[i] = word(m.b, (place + 4 * i) * Rule::kPack * 8 + group, 8);
  float c[4];
  auto at = [&](int i) { return (group + i / 2 * 8) * 8 + 2 * place + i % 2; };
  for (int i = 0; i < 4; ++i)
    c[i] = m.c.load(at(i));
  Rule::multiply(c, a, b);
  for (int i = 0; i < 4; ++i)
    m.c.store(at(i), c[i]);
}
LSTMC_GPU_KERNEL(addBf16, Matrices, m) { addProduct<Bf16>(m); }
LSTMC_GPU_KERNEL(addFp16, Matrices, m) { addProduct<Fp16>(m); }
LSTMC_GPU_KERNEL(addTf32, Matrices, m) { addProduct<Tf32>(m); }

/// To `bits` binary digits, the nearest, of two the even one: by arithmetic on doubles, and not by
/// the bits of the number.
float rounded(float value, int bits, int leastExponent) {
  if (value == 0 || !std::isfinite(value))
    return value;
  const int exponent = std::max(std::ilogb(value), leastExponent);
  const double unit = std::ldexp(1.0, exponent - bits + 1);
  return float(std::nearbyint(value / unit) * unit);
}

struct Format {
  const char *name;
  int bits, leastExponent, depth;
  void (*run)(const void *);
};
const Format kFormats[] = {
    {"bf16", 8, -126, 16, [](const void *m) { addBf16(*static_cast<const Matrices *>(m)); }},
    {"fp16", 11, -14, 16, [](const void *m) { addFp16(*static_cast<const Matrices *>(m)); }},
    {"tf32", 11, -126, 8, [](const void *m) { addTf32(*static_cast<const Matrices *>(m)); }}};

/// Numbers with 24 digits of many sizes, all of them different.
float numberOf(int i) { return std::sin(1.0f + float(i)) * std::ldexp(1.0f, i % 9 - 4); }

TEST(TensorCores, AddTheProductOfRoundedMatrices) {
  for (const Format &format : kFormats) {
    const int depth = format.depth;
    std::vector<float> a(size_t(16 * depth)), b(size_t(depth * 8)), c(16 * 8);
    for (size_t i = 0; i < a.size(); ++i)
      a[i] = numberOf(int(i));
    for (size_t i = 0; i < b.size(); ++i)
      b[i] = numberOf(int(1000 + i));
    for (size_t i = 0; i < c.size(); ++i)
      c[i] = numberOf(int(2000 + i));
    std::vector<float> want = c;
    for (int row = 0; row < 16; ++row)
      for (int column = 0; column < 8; ++column)
        for (int k = 0; k < depth; ++k) {
          auto is = [&](float x) { return rounded(x, format.bits, format.leastExponent); };
          float &sum = want[size_t(row * 8 + column)];
          sum = std::fma(is(a[size_t(row * depth + k)]), is(b[size_t(k * 8 + column)]), sum);
        }
    const Matrices m = {{a.data()}, {b.data()}, {c.data()}};
    const Region regions[] = {{a.data(), a.size() * 4, false, "a"},
                              {b.data(), b.size() * 4, false, "b"},
                              {c.data(), c.size() * 4, true, "c"}};
    const auto fault = launch(format.name, format.run, &m, {}, regions);
    ASSERT_FALSE(fault) << fault->text();
    EXPECT_EQ(c, want) << format.name;
  }
}

TEST(TensorCores, RoundToTheNearestAndOfTwoToTheEven) {
  const float one[] = {1.0f, 1.00390625f, 1.01171875f, 1.0039063f};
  for (int i = 0; i < 4096; ++i) {
    const float x = i < 4 ? one[i] : numberOf(i) * std::ldexp(1.0f, i % 40 - 30);
    const uint32_t bf16 = uint32_t(tensor::bf16Bits(x)) << 16, tf32 = Tf32::word(x, 0);
    float value;
    std::memcpy(&value, &bf16, 4);
    EXPECT_EQ(value, rounded(x, 8, -126)) << x;
    std::memcpy(&value, &tf32, 4);
    EXPECT_EQ(value, rounded(x, 11, -126)) << x;
  }
  // 1, 2^-24, 1.5 * 2^-24, 2^-25, 65,504, 65,519.996, 65,520, -infinity, and NaN.
  const std::pair<float, uint16_t> halves[] = {
      {1, 0x3c00},          {0x1p-24f, 1},        {0x3p-25f, 2},     {0x1p-25f, 0},
      {65504, 0x7bff},      {65519.996f, 0x7bff}, {65520, 0x7c00},   {-INFINITY, 0xfc00},
      {NAN, 0x7fff},        {-2, 0xc000},         {0x1p-14f, 0x400}, {0x1.ff8p-15f, 0x3ff},
      {0x1.ffcp-15f, 0x400}};
  for (auto [value, bits] : halves)
    EXPECT_EQ(tensor::fp16Bits(value), bits) << value;
  EXPECT_EQ(fp16Pair(1, -2), 0xc0003c00u);
  EXPECT_EQ(bf16Pair(1, -2), 0xc0003f80u);
  EXPECT_EQ(Tf32::word(NAN, 0) & 0x7fffe000u, 0x7fffe000u);
  EXPECT_EQ(Tf32::word(INFINITY, 0), 0x7f800000u);
}

LSTMC_GPU_KERNEL(laneMissing, Matrices, m) {
  if (laneIndex() != 7)
    addProduct<Bf16>(m);
}
/// All lanes at one meeting, but not all with a product.
LSTMC_GPU_KERNEL(laneElsewhere, Matrices, m) {
  if (laneIndex() == 7)
    syncWarp();
  else
    addProduct<Bf16>(m);
}

TEST(TensorCores, WantAllLanesOfAWarp) {
  std::vector<float> a(256, 1), b(128, 1), c(128, 1);
  const Matrices m = {{a.data()}, {b.data()}, {c.data()}};
  const Region regions[] = {
      {a.data(), 1024, false, "a"}, {b.data(), 512, false, "b"}, {c.data(), 512, true, "c"}};
  const auto missing = launchKernel<laneMissing>("missing", m, {}, regions);
  ASSERT_TRUE(missing);
  EXPECT_NE(missing->what.find("a meeting that thread 7 does not reach"), std::string::npos)
      << missing->text();
  const auto elsewhere = launchKernel<laneElsewhere>("elsewhere", m, {}, regions);
  ASSERT_TRUE(elsewhere);
  EXPECT_NE(elsewhere->what.find("meets thread"), std::string::npos) << elsewhere->text();
}

} // namespace
} // namespace lstmc::gpu
