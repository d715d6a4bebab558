#include "executor/ranks/TwoBit.h"

#include <array>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace lstmc::test {
namespace {

using ranks::twoBitBytes;

std::span<const std::byte> bytesOf(const std::vector<float> &values) {
  return std::as_bytes(std::span(values));
}

TEST(TwoBit, StandsAtItsPlaces) {
  const std::vector<float> values{0.5f, 0, -0.5f, 0.5f, -0.5f};
  std::vector<std::byte> packed(twoBitBytes(5));
  ASSERT_EQ(packed.size(), 6u);
  ASSERT_TRUE(ranks::packTwoBit(bytesOf(values), packed));
  // 0.5 is 3f000000, little-endian; 11 00 10 11, then 10 and nothing.
  const std::vector<std::byte> want{std::byte(0),    std::byte(0),    std::byte(0),
                                    std::byte(0x3f), std::byte(0xcb), std::byte(0x80)};
  EXPECT_EQ(packed, want);
}

TEST(TwoBit, GivesBackTheBitsOfEveryLength) {
  std::mt19937 random(1);
  for (size_t count = 0; count < 70; ++count)
    for (float t : {0.1f, 1e-40f, 3e38f}) {
      std::vector<float> values(count), back(count, 7.0f);
      for (float &value : values)
        value = std::array{0.0f, t, -t}[random() % 3];
      std::vector<std::byte> packed(twoBitBytes(count));
      ASSERT_TRUE(ranks::packTwoBit(bytesOf(values), packed));
      ASSERT_TRUE(ranks::unpackTwoBit(packed, std::as_writable_bytes(std::span(back))));
      EXPECT_EQ(std::memcmp(values.data(), back.data(), count * sizeof(float)), 0);
    }
}

TEST(TwoBit, RefusesOtherValues) {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const std::vector<float> &values : {std::vector{0.5f, 0.25f}, std::vector{0.0f, -0.0f},
                                           std::vector{inf, 0.0f}, std::vector{0.0f, nan}}) {
    std::vector<std::byte> packed(twoBitBytes(values.size()));
    EXPECT_FALSE(ranks::packTwoBit(bytesOf(values), packed)) << values[0] << " " << values[1];
  }
}

TEST(TwoBit, RefusesCodesOfNoValue) {
  std::vector<float> back(4, 7.0f);
  const auto unpack = [&](std::vector<uint8_t> packed) {
    return ranks::unpackTwoBit(std::as_bytes(std::span(packed)),
                               std::as_writable_bytes(std::span(back)));
  };
  EXPECT_FALSE(unpack({0, 0, 0, 0x3f, 0x40}));    // 01
  EXPECT_FALSE(unpack({0, 0, 0, 0xbf, 0xc0}));    // t < 0
  EXPECT_FALSE(unpack({0, 0, 0x80, 0x7f, 0xc0})); // t is infinite
  EXPECT_FALSE(unpack({0, 0, 0, 0x3f, 0}));       // t of no element
  EXPECT_EQ(back, std::vector<float>(4, 7.0f));
}

} // namespace
} // namespace lstmc::test
