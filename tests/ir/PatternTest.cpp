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
      {"(?:a|bc)+d", "abcad", true},
      {"(?P<layer>[a-z]+)_(i2h|h2h)_", "enc_h2h_bias", true},
      {"[^_]+_l[0-9]{1,2}_", "lstm_l12_weight", true},
      {"[^_]+_l[0-9]{1,2}_", "lstm_l123_weight", false},
      {"a{2,}b", "ab", false},
      {"a{,2}b", "aab", true},
      {"a{x}", "a{x}", true},
      {"x{2,3}?y", "xxxy", true},
      {"[\\w.-]+$", "enc.l-1_w", true},
      {"[]a]+$", "a]", true},
      {"\\bfc\\b", "fc.w", true},
      {"\\bfc\\b", "fc_w", false},
      {"fc\\Bw", "fcw", true},
      {"\\S+\\s\\S+$", "a b", true},
      {"poids_[à-ü]+$", "poids_été", false},
      {"poids_[a-ü]+$", "poids_été", true},
      {"a.c",
       "a\xc3\xa9"
       "c",
       true},
      {"(a*)*b", "aaab", true},
      {"(|a)+$", "aa", true},
      {"\\.w\\+\\(", ".w+(", true},
  };
  for (const auto &[pattern, name, expected] : kCases)
    EXPECT_EQ(matches(pattern, name), expected) << pattern << " " << name;
}

TEST(Pattern, RefusesWhatTakesMoreThanLinearTime) {
  const std::pair<const char *, const char *> kCases[] = {
      {"(a)\\1", "a reference to a group"},
      {"(?P<x>a)(?P=x)", "a reference to a group"},
      {"(?=a)", "lookaround, or flags of a group"},
      {"(?i)a", "lookaround, or flags of a group"},
      {"a**", "a repetition of a repetition: write a group"},
      {"a*+", "a possessive repetition"},
      {"*a", "nothing before a repetition"},
      {"(a", "a \"(\" without a \")\""},
      {"a)", "a \")\" without a \"(\""},
      {"[a", "a \"[\" without a \"]\""},
      {"[z-a]", "a range of a set that is none"},
      {"a{3,2}", "a repetition from 3 to 2"},
      {"\\q", "an escape that is not known here"},
      {"a\\", "a backslash at the end"},
      {"\xff", "bytes that are not UTF-8"},
      {"((a{100}){100}){100}", "more than 10000 states: repetitions of repetitions multiply"},
      {"(){1000000}", "more than 10000 states: repetitions of repetitions multiply"},
  };
  for (const auto &[pattern, why] : kCases) {
    EXPECT_EQ(Pattern::problemOf(pattern), why) << pattern;
    EXPECT_FALSE(Pattern(pattern).matchesBegin("a")) << pattern;
  }
  EXPECT_EQ(Pattern::problemOf(std::string(1000, '(')), "more than 200 groups within one another");
}

/// A machine that tries one way after the other takes 2^4000 steps here.
TEST(Pattern, EndsWhereManyWaysLeadNowhere) {
  const std::string name = std::string(4000, 'a') + "b";
  for (const char *pattern : {"(a+)+$", "(a|a)*$", "(a*)*c", "(.*)*(.*)*x"})
    EXPECT_FALSE(Pattern(pattern).matchesBegin(name)) << pattern;
}

} // namespace
} // namespace lstmc::sym
