#include <cmath>
#include <limits>
#include <string_view>

#include <gtest/gtest.h>

#include "executor/base/Hash.h"
#include "executor/base/Numeric.h"
#include "executor/base/Philox.h"

namespace lstmc {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

/// The value of a half by its definition: sign, 5 bits of exponent, 10 of fraction.
double halfByDefinition(uint32_t bits) {
  double sign = bits & 0x8000 ? -1 : 1, fraction = bits & 0x3ff;
  int exponent = int(bits >> 10 & 0x1f);
  return exponent == 0 ? sign * std::ldexp(fraction, -24)
                       : sign * std::ldexp(1024 + fraction, exponent - 25);
}

TEST(Numeric, EveryHalfWidensExactlyAndComesBack) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const Half half{uint16_t(bits)};
    if ((bits & 0x7c00) == 0x7c00) {
      EXPECT_EQ(std::isnan(widen(half)), (bits & 0x3ff) != 0);
      EXPECT_EQ(std::isinf(widen(half)), (bits & 0x3ff) == 0);
      continue;
    }
    ASSERT_EQ(widen(half), halfByDefinition(bits)) << bits;
    ASSERT_EQ(toHalf(widen(half)).bits, bits);
  }
}

// Between neighbours a and b the result is the nearer one; in the middle, the one that ends in 0.
TEST(Numeric, HalvesRoundToNearestEven) {
  for (uint32_t bits = 0; bits < 0x7bff; ++bits) {
    const float a = widen(Half{uint16_t(bits)}), b = widen(Half{uint16_t(bits + 1)}),
                middle = (a + b) / 2;
    ASSERT_EQ(toHalf(middle).bits, bits + (bits & 1)) << bits;
    ASSERT_EQ(toHalf(std::nextafter(middle, 0.0f)).bits, bits);
    ASSERT_EQ(toHalf(std::nextafter(middle, kInfinity)).bits, bits + 1);
    ASSERT_EQ(toHalf(-middle).bits, 0x8000 | (bits + (bits & 1)));
  }
  EXPECT_EQ(toHalf(65519.996f).bits, 0x7bff);
  EXPECT_EQ(toHalf(65520).bits, 0x7c00);
  EXPECT_EQ(toHalf(1e30f).bits, 0x7c00);
  EXPECT_EQ(toHalf(-kInfinity).bits, 0xfc00);
  EXPECT_TRUE(std::isnan(widen(toHalf(kNaN))));
  EXPECT_EQ(toHalf(0x1p-25f).bits, 0);
  EXPECT_EQ(toHalf(0x1.000002p-25f).bits, 1);
}

TEST(Numeric, BFloatsRoundToNearestEven) {
  for (uint32_t bits : {0x0u, 0x3f80u, 0x3f81u, 0x7f7eu, 0x0080u}) {
    const float a = widen(BFloat{uint16_t(bits)});
    const float middle = std::bit_cast<float>(bits << 16 | 0x8000);
    EXPECT_EQ(toBFloat(a).bits, bits);
    EXPECT_EQ(toBFloat(middle).bits, bits + (bits & 1));
    EXPECT_EQ(toBFloat(std::bit_cast<float>(bits << 16 | 0x7fff)).bits, bits);
    EXPECT_EQ(toBFloat(std::bit_cast<float>(bits << 16 | 0x8001)).bits, bits + 1);
  }
  EXPECT_EQ(toBFloat(std::numeric_limits<float>::max()).bits, 0x7f80);
  EXPECT_TRUE(std::isnan(widen(toBFloat(std::bit_cast<float>(0x7f800001)))));
}

TEST(Numeric, FloatsBecomeIntegersBySaturation) {
  EXPECT_EQ(convert<int32_t>(2.9f), 2);
  EXPECT_EQ(convert<int32_t>(-2.9f), -2);
  EXPECT_EQ(convert<int32_t>(2147483648.0f), 2147483647);
  EXPECT_EQ(convert<int32_t>(-2147483648.0f), -2147483647 - 1);
  EXPECT_EQ(convert<int32_t>(2147483647.0), 2147483647);
  EXPECT_EQ(convert<int64_t>(9.3e18f), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(convert<int64_t>(-kInfinity), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(convert<int64_t>(kNaN), 0);
  EXPECT_EQ(convert<uint8_t>(-0.5f), 0);
  EXPECT_EQ(convert<uint8_t>(-3.0f), 0);
  EXPECT_EQ(convert<uint8_t>(255.9f), 255);
  EXPECT_EQ(convert<uint8_t>(256.0f), 255);
  EXPECT_EQ(convert<int8_t>(-129.0), -128);
}

TEST(Numeric, OtherConversions) {
  EXPECT_EQ(convert<int8_t>(int32_t(300)), 44);
  EXPECT_EQ(convert<uint8_t>(int64_t(-1)), 255);
  EXPECT_EQ(convert<float>(int32_t(16777217)), 16777216.0f);
  EXPECT_TRUE(convert<bool>(0.5f));
  EXPECT_TRUE(convert<bool>(kNaN));
  EXPECT_FALSE(convert<bool>(-0.0));
  EXPECT_EQ(convert<double>(true), 1);
  EXPECT_EQ(convert<float>(1 + 0x1p-24), 1.0f);
  EXPECT_EQ(convert<float>(1 + 0x1.8p-23), 1 + 0x1p-22f);
}

// A byte in a file that is neither 0 nor 1 still counts as true.
TEST(Numeric, AnyByteButZeroIsTrue) {
  const uint8_t bytes[] = {0, 1, 2, 255};
  EXPECT_EQ(readElement<int32_t>(bytes, DType::Bool, 0), 0);
  for (int i = 1; i < 4; ++i)
    EXPECT_EQ(readElement<int32_t>(bytes, DType::Bool, i), 1);
}

// Source: xxHash's own test vectors: XXH3_64bits of the empty string with seed 0.
TEST(Hash, IsXxh3) {
  EXPECT_EQ(hashBytes(nullptr, 0), 0x2d06800538d394c2u);
  EXPECT_NE(hashBytes("a", 1), hashBytes("b", 1));
}

TEST(Hash, CombinationDependsOnOrder) {
  const uint64_t a[] = {1, 2}, b[] = {2, 1};
  EXPECT_NE(combineHashes(a), combineHashes(b));
  EXPECT_EQ(combineHashes(a), hashBytes(a, 16));
}

} // namespace
} // namespace lstmc
