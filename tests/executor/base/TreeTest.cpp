#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "executor/base/Tree.h"

namespace lstmc {
namespace {

struct Bracket {
  std::string operator()(const std::string &a, const std::string &b) const {
    return "(" + a + "+" + b + ")";
  }
};

/// The rule as documented: the left child of a node over n leaves has the largest power of two
/// below n; an absent leaf is skipped. Absent leaves are "".
std::string byDefinition(const std::vector<std::string> &leaves, size_t begin, size_t n) {
  if (n == 1)
    return leaves[begin];
  size_t left = 1;
  while (left * 2 < n)
    left *= 2;
  std::string a = byDefinition(leaves, begin, left),
              b = byDefinition(leaves, begin + left, n - left);
  return a.empty() ? b : b.empty() ? a : Bracket()(a, b);
}

std::string folded(const std::vector<std::string> &leaves) {
  TreeFold<std::string, Bracket> fold;
  for (const std::string &leaf : leaves)
    if (leaf.empty())
      fold.skip();
    else
      fold.add(leaf);
  return fold.finish("nothing");
}

TEST(Tree, EightLeaves) {
  EXPECT_EQ(folded({"0", "1", "2", "3", "4", "5", "6", "7"}), "(((0+1)+(2+3))+((4+5)+(6+7)))");
}

TEST(Tree, SevenLeaves) {
  EXPECT_EQ(folded({"0", "1", "2", "3", "4", "5", "6"}), "(((0+1)+(2+3))+((4+5)+6))");
}

TEST(Tree, AbsentLeavesAreSkipped) {
  EXPECT_EQ(folded({"", "1", "", "", "4", "5", "", "7"}), "(1+((4+5)+7))");
  EXPECT_EQ(folded({"", "", ""}), "nothing");
  EXPECT_EQ(folded({}), "nothing");
}

TEST(Tree, FoldIsTheDefinitionForEveryPresence) {
  for (size_t n = 1; n <= 11; ++n)
    for (unsigned present = 1; present < 1u << n; ++present) {
      std::vector<std::string> leaves(n);
      for (size_t i = 0; i < n; ++i)
        if (present >> i & 1)
          leaves[i] = std::to_string(i);
      ASSERT_EQ(folded(leaves), byDefinition(leaves, 0, n));
    }
}

TEST(Tree, CombineTreeIsTheSameTree) {
  for (size_t n = 1; n <= 40; ++n) {
    std::vector<std::string> leaves(n);
    for (size_t i = 0; i < n; ++i)
      leaves[i] = std::to_string(i);
    EXPECT_EQ(combineTree(std::span<const std::string>(leaves), std::string(), Bracket()),
              byDefinition(leaves, 0, n));
  }
}

// An absent shard must not be added as 0: -0 would become +0.
TEST(Tree, NegativeZeroSurvivesEmptyShards) {
  double sum = sumOverShards<double>({1, 8, 0, 8}, [](int64_t, int64_t) { return -0.0; });
  EXPECT_TRUE(std::signbit(sum));
}

// Rows of shard j: [floor(jN/S), floor((j+1)N/S)).
TEST(Tree, ShardsOfFiveRows) {
  std::vector<int64_t> rows;
  sumOverShards<double>({5, 8, 0, 8}, [&](int64_t begin, int64_t end) {
    rows.insert(rows.end(), {begin, end});
    return 0.0;
  });
  EXPECT_EQ(rows, (std::vector<int64_t>{0, 1, 1, 2, 2, 3, 3, 4, 4, 5}));
}

// Shards 3 to 7, with rows counted from the first row of shard 3.
TEST(Tree, ARangeOfShardsCountsItsOwnRows) {
  std::vector<int64_t> rows;
  ShardRange range{5, 8, 3, 5};
  sumOverShards<double>(range, [&](int64_t begin, int64_t end) {
    rows.insert(rows.end(), {begin, end});
    return 0.0;
  });
  EXPECT_EQ(rows, (std::vector<int64_t>{0, 1, 1, 2, 2, 3, 3, 4}));
  EXPECT_EQ(range.rows(), 4);
}

// 2^53 and ones: adding a single 1 is lost, adding a sum of two is not. Lanes 0 and 1 hold 2^53 and
// 16 ones.
TEST(Tree, LanesTakeEverySixteenthElement) {
  auto x = [](int64_t e) { return e == 0 ? 0x1p53 : e % 16 <= 1 ? 1.0 : 0.0; };
  double sum = sumInLanes<double>(16 * 16, [&](int64_t e, double lane) { return lane + x(e); });
  EXPECT_EQ(sum, 0x1p53 + 16);
}

} // namespace
} // namespace lstmc
