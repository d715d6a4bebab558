// Numbers as people write them, and names that were meant.
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "executor/base/NumberText.h"
#include "executor/base/Suggest.h"

namespace lstmc {
namespace {

using ::testing::ElementsAre;

TEST(NumberText, ALetterScalesByItsPower) {
  EXPECT_EQ(scaledNumber("0", 1000), 0);
  EXPECT_EQ(scaledNumber("100", 1024), 100);
  EXPECT_EQ(scaledNumber("4K", 1024), 4096);
  EXPECT_EQ(scaledNumber("1.5M", 1000), 1'500'000);
  EXPECT_EQ(scaledNumber("2G", 1024), int64_t(2) << 30);
  EXPECT_EQ(scaledNumber("9007199254740993", 1000), 9007199254740993); // 2^53 + 1: no double
  EXPECT_EQ(scaledNumber("9000000000000000000", 1000), 9'000'000'000'000'000'000);
}

TEST(NumberText, WhatIsNoWholeNumberIsNone) {
  for (const char *text : {"", "K", "-1", "1.0001K", "4KB", "4k", " 4", "4 ", "1e19", "nan", "inf"})
    EXPECT_EQ(scaledNumber(text, 1000), std::nullopt) << text;
}

TEST(Suggest, TheNearestNameAtMostAThirdOfTheLettersAway) {
  EXPECT_EQ(nearest("Embeding", {"Embedding", "Dropout"}), "Embedding");            // one put in
  EXPECT_EQ(nearest("memmory", {"memory", "name"}), "memory");                      // one left out
  EXPECT_EQ(nearest("bytez_per_s", {"bytes_per_s", "flops_per_s"}), "bytes_per_s"); // one exchanged
  EXPECT_EQ(nearest("sdg", {"sgd"}), "");           // two of three letters
  EXPECT_EQ(nearest("name", {"dame", "game"}), ""); // a tie
  EXPECT_EQ(nearest("", {"a"}), "");
  EXPECT_EQ(didYouMean("memmory", {"memory"}), "did you mean \"memory\"?");
  EXPECT_EQ(didYouMean("tanh", {"memory"}), "");
}

TEST(Suggest, OrdersByDistanceAndKeepsEqualOnes) {
  EXPECT_THAT(nearestFirst("adm", {"sgd", "adam", "nag", "adams"}),
              ElementsAre("adam", "adams", "sgd", "nag"));
}

/// Levenshtein's definition, by recursion.
size_t distance(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty())
    return a.size() + b.size();
  if (a[0] == b[0])
    return distance(a.substr(1), b.substr(1));
  return 1 + std::min({distance(a.substr(1), b), distance(a, b.substr(1)),
                       distance(a.substr(1), b.substr(1))});
}

TEST(Suggest, DistancesAreThoseOfTheDefinition) {
  std::vector<std::string> words = {""};
  for (size_t i = 0; words.size() < 1 + 2 + 4 + 8 + 16 + 32; ++i)
    for (char letter : {'a', 'b'})
      words.push_back(words[i] + letter);
  std::vector<std::string_view> all(words.begin(), words.end());
  for (const std::string &written : words) {
    std::multimap<size_t, std::string_view> rows; // equal ones as they come
    for (std::string_view word : all)
      rows.emplace(written.empty() ? 0 : distance(written, word), word);
    std::vector<std::string_view> wanted;
    for (auto [far, word] : rows)
      wanted.push_back(word);
    EXPECT_EQ(nearestFirst(written, all), wanted) << written;
  }
}

TEST(Suggest, NamesOf64LettersAreComparedAndLongerOnesAreNot) {
  std::string longest = std::string(63, 'a') + "z", near = std::string(64, 'a');
  EXPECT_EQ(nearest(longest, {"b", near}), near);
  EXPECT_THAT(nearestFirst(longest, {"b", near}), ElementsAre(near, "b"));
  EXPECT_EQ(nearest(longest + "z", {"b", near}), "");
  EXPECT_THAT(nearestFirst(longest + "z", {"b", near}), ElementsAre("b", near));
}

} // namespace
} // namespace lstmc
