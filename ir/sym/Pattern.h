// Regular expressions over names, as Mixed has them: those of Python's `re` that can be matched in
// time linear in the name.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lstmc::sym {

/// A compiled expression: a machine whose states are followed all at once, so that no pattern takes
/// longer than its length times that of the name.
///
/// Literals, `.`, classes `[a-z_]`, `\d \w \s` and their opposites (ASCII), `\b \B ^ $ \A \Z`,
/// groups `( ) (?: ) (?P<name> )`, `|`, and `* + ? {m} {m,} {m,n}`, also followed by `?`.
/// Characters are code points of UTF-8. Not: backreferences, lookaround, flags; what counts repeat
/// may not become more than kMostStates states.
class Pattern {
public:
  static constexpr size_t kMostStates = 10'000;

  /// Why `text` is no pattern of this kind; nothing if it is one.
  static std::optional<std::string> problemOf(std::string_view text);
  /// Of a text that is refused: a pattern that matches nothing.
  explicit Pattern(std::string_view text);

  /// Whether it matches some beginning of `name`, as Python's re.match.
  bool matchesBegin(std::string_view name) const;

  struct Range {
    char32_t first, last;
  };
  struct State {
    enum class Kind { Set, Split, Jump, Begin, End, Edge, NoEdge, Match } kind = Kind::Match;
    bool negated = false;
    std::vector<Range> set;
    size_t next = 0, other = 0;
  };

private:
  std::vector<State> states_;
};

} // namespace lstmc::sym
