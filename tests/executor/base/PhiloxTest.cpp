#include <gtest/gtest.h>

#include "executor/base/Philox.h"

namespace lstmc {
namespace {

// Source: known answers of the Random123 library, philox4x32 with 10 rounds.
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}),
            (PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

// Rule 10: the block number is the low 64 bits of the counter, then ordinal, then update.
TEST(Philox, ElementsAreLanesOfBlocks) {
  const uint64_t seed = 0x0123456789abcdef, element = (uint64_t(5) << 34) + 4 * 7 + 2;
  const PhiloxBlock block = philox4x32({7, 5, 11, 13}, {0x89abcdef, 0x01234567});
  EXPECT_EQ(randomWord(seed, element, 11, 13), block[2]);
}

TEST(Philox, UniformNumbersAreBelowOne) {
  EXPECT_EQ(uniformFromWord(0), 0);
  EXPECT_EQ(uniformFromWord(0xff), 0);
  EXPECT_EQ(uniformFromWord(0x100), 0x1p-24);
  EXPECT_EQ(uniformFromWord(0xffffffff), 1 - 0x1p-24);
}

} // namespace
} // namespace lstmc
