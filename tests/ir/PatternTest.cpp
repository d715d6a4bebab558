// Patterns of Mixed. The expected answers are those of Python's re.match with re.ASCII.
#include "ir/sym/Pattern.h"

#include <gtest/gtest.h>

namespace lstmc::sym {
namespace {

bool matches(const char *pattern, const char *name) {
  EXPECT_EQ(Pattern::problemOf(pattern), std::nullopt) << pattern;
  return Pattern(pattern).matchesBegin(name);
}

TEST(Pattern, MatchesTheBeginningOfAName) {
  const std::tuple<const char *, const char *, bool> kCases[] = {
      {"fc", "fc_weight", true},
      {"weight", "fc_weight", false},
      {".*weight", "fc_weight", true},
      {".*weight$", "fc_weight_1", false},
      {"", "x", true},
      {"^fc|^lstm\\d+_", "lstm12_bias", true},
      {"lstm\\d+_", "lstm_bias", false},
      {"(?P<layer>[a-z]+)_(i2h|h2h)_", "enc_h2h_bias", true},
      {"[^_]+_l[0-9]{1,2}_", "lstm_l123_weight", false},
      {"x{2,3}?y", "xxxy", true},
      {"\\bfc\\b", "fc_w", false},
      {"poids_[a-ü]+$", "poids_été", true},
      {"\\.w\\+\\(", ".w+(", true},
  };
  for (const auto &[pattern, name, expected] : kCases)
    EXPECT_EQ(matches(pattern, name), expected) << pattern << " " << name;
}

TEST(Pattern, RefusesWhatTakesMoreThanLinearTime) {
  for (const char *pattern : {"(a)\\1", "(?P<x>a)(?P=x)", "(?=a)", "a**", "*a", "(a", "a)", "[a",
                              "[z-a]", "a{3,2}", "\\q", "a\\", "\xff", "((a{100}){100}){100}"}) {
    EXPECT_NE(Pattern::problemOf(pattern).value_or(""), "") << pattern;
    EXPECT_FALSE(Pattern(pattern).matchesBegin("a")) << pattern;
  }
}

/// A machine that tries one way after the other takes 2^4000 steps here.
TEST(Pattern, EndsWhereManyWaysLeadNowhere) {
  const std::string name = std::string(4000, 'a') + "b";
  for (const char *pattern : {"(a+)+$", "(a|a)*$", "(a*)*c", "(.*)*(.*)*x"})
    EXPECT_FALSE(Pattern(pattern).matchesBegin(name)) << pattern;
}

} // namespace
} // namespace lstmc::sym
