// Numbers as people write them, and names that were meant.
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

} // namespace
} // namespace lstmc
