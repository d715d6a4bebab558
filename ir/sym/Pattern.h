// Regular expressions over names, for Mixed, matched by RE2 in time linear in the name.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}

namespace lstmc::sym {

/// An expression of RE2's syntax, which is that of Python's `re` without references to groups and
/// lookaround. Characters are code points of UTF-8; `\d \w \s \b` are ASCII.
class Pattern {
public:
  /// RE2's error message if `text` is not a valid expression; else nullopt.
  static std::optional<std::string> problemOf(std::string_view text);
  /// An invalid `text` makes a pattern that matches nothing.
  explicit Pattern(std::string_view text);
  ~Pattern();
  Pattern(Pattern &&) noexcept;
  Pattern &operator=(Pattern &&) noexcept;

  /// Whether the pattern matches a prefix of `name`, as Python's re.match does.
  bool matchesBegin(std::string_view name) const;

private:
  std::unique_ptr<re2::RE2> machine_;
};

} // namespace lstmc::sym
