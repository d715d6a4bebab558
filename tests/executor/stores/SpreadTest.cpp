#include "executor/stores/Spread.h"

#include <gtest/gtest.h>

namespace lstmc::test {
namespace {

using stores::KeySize;

std::vector<std::vector<int64_t>> spread(std::vector<KeySize> keys, int servers, int64_t bound) {
  std::vector<std::vector<int64_t>> all;
  for (const stores::KeyOnServer &key : stores::spreadKeys(keys, servers, bound))
    all.push_back({int64_t(key.part.key), key.part.first, key.part.count, key.server});
  return all;
}

using Want = std::vector<std::vector<int64_t>>;

/// 9973 mod 3 is 1, mod 4 is 1, mod 5 is 3.
TEST(Spread, SmallKeysAreOnOneServer) {
  EXPECT_EQ(spread({{9, true}, {8, true}, {7, true}, {6, true}}, 3, 10),
            (Want{{0, 0, 9, 0}, {1, 0, 8, 1}, {2, 0, 7, 2}, {3, 0, 6, 0}}));
  EXPECT_EQ(spread({{9, true}, {8, true}, {7, true}}, 5, 10),
            (Want{{0, 0, 9, 0}, {1, 0, 8, 3}, {2, 0, 7, 1}}));
}

/// 11 / 4 = 2.75: ends round to 3, 6 (5.5), 8 (8.25), 11.
TEST(Spread, LargeKeysAreCutForAll) {
  EXPECT_EQ(spread({{11, true}, {9, true}}, 4, 10),
            (Want{{0, 0, 3, 0}, {0, 3, 3, 1}, {0, 6, 2, 2}, {0, 8, 3, 3}, {1, 0, 9, 1}}));
}

TEST(Spread, ServersWithoutElementsHaveNoPart) {
  EXPECT_EQ(spread({{2, true}}, 4, 1), (Want{{0, 0, 1, 0}, {0, 1, 1, 2}}));
}

TEST(Spread, WhatCannotBeDividedIsNot) {
  const Want whole{{0, 0, 11, 0}};
  EXPECT_EQ(spread({{11, false}}, 4, 10), whole);
  EXPECT_EQ(spread({{11, true}}, 4, 0), whole);
  EXPECT_EQ(spread({{11, true}}, 1, 10), whole);
}

} // namespace
} // namespace lstmc::test
