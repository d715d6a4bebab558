// Regular expressions over names, as Mixed has them, matched by RE2 in time linear in the name.
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
  /// Why `text` is no pattern, in RE2's words; nothing if it is one.
  static std::optional<std::string> problemOf(std::string_view text);
  /// A text that is refused makes a pattern that matches nothing.
  explicit Pattern(std::string_view text);
  ~Pattern();
  Pattern(Pattern &&) noexcept;
  Pattern &operator=(Pattern &&) noexcept;

  /// Whether it matches some beginning of `name`, as Python's re.match.
  bool matchesBegin(std::string_view name) const;

private:
  std::unique_ptr<re2::RE2> machine_;
};

} // namespace lstmc::sym
