// JSON as text, made front to back.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "executor/base/Utf8.h"

namespace lstmc::training {

/// Writes one document, a space a level. There is no tree, since a tree of nlohmann's needs memory
/// to be freed: a save that runs out of it must end as an error.
class JsonText {
public:
  void open(char bracket) {
    place();
    text_ += bracket;
    ++depth_;
    first_ = true;
  }
  void close(char bracket) {
    --depth_;
    if (!first_)
      newLine();
    text_ += bracket;
    first_ = false;
  }
  void key(std::string_view name) {
    next();
    quote(name);
    text_ += ": ";
    afterKey_ = true;
  }

  void value(std::string_view string) {
    place();
    quote(string);
  }
  void value(const char *string) { value(std::string_view(string)); }
  void value(int64_t number) { literal(fmt::format("{}", number)); }
  void value(uint64_t number) { literal(fmt::format("{}", number)); }
  void null() { literal("null"); }
  /// A value that is JSON already.
  void json(std::string_view text) { literal(text); }

  template <typename Value> void field(std::string_view name, const Value &of) {
    key(name);
    value(of);
  }

  std::string take() { return std::move(text_); }

private:
  void literal(std::string_view word) {
    place();
    text_ += word;
  }
  /// Before a value: of a key it is, or the next of a list.
  void place() {
    if (!afterKey_ && depth_ > 0)
      next();
    afterKey_ = false;
  }
  void next() {
    if (!first_)
      text_ += ',';
    first_ = false;
    newLine();
  }
  void newLine() {
    text_ += '\n';
    text_.append(size_t(depth_), ' ');
  }
  /// What is no UTF-8 becomes U+FFFD.
  void quote(std::string_view string) {
    text_ += '"';
    while (!string.empty()) {
      char32_t c = 0;
      int length = decodeUtf8(string, c);
      if (length == 0)
        text_ += "\xef\xbf\xbd";
      else if (c == '"' || c == '\\')
        text_ += {'\\', char(c)};
      else if (c < 0x20)
        text_ += fmt::format("\\u{:04x}", uint32_t(c));
      else
        text_ += string.substr(0, size_t(length));
      string.remove_prefix(size_t(length == 0 ? 1 : length));
    }
    text_ += '"';
  }

  std::string text_;
  int depth_ = 0;
  bool first_ = true, afterKey_ = false;
};

} // namespace lstmc::training
