// Types of the fields of builder options: required values, words checked at compile time, lists of
// integers.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "executor/abi/DType.h"

namespace lstmc::build {

/// A field that has to be written: without it, the initialiser does not compile.
template <typename T> class Required {
public:
  template <std::convertible_to<T> Given>
  constexpr Required(Given &&value) : value_(std::forward<Given>(value)) {}
  const T &value() const { return value_; }

private:
  T value_;
};

/// A word of the program's text, as a template argument.
template <size_t size> struct Word {
  char text[size];
  constexpr Word(const char (&from)[size]) {
    for (size_t i = 0; i < size; ++i)
      text[i] = from[i];
  }
  constexpr bool is(std::string_view other) const { return other == text; }
};

/// No constant: a call of it ends a compilation.
void notOneOfTheWordsThatTheOpKnows();

/// One of some words, or none. Another word does not compile.
template <Word... words> class Choice {
public:
  constexpr Choice() = default;
  consteval Choice(const char *word) : word_(word) {
    if (!(words.is(word) || ...))
      notOneOfTheWordsThatTheOpKnows();
  }
  const char *word() const { return word_; } ///< null: not given

private:
  const char *word_ = nullptr;
};

/// A word that has to be written.
template <Word... words> class RequiredChoice : public Choice<words...> {
public:
  consteval RequiredChoice(const char *word) : Choice<words...>(word) {}
};

/// {2, 3}, or one integer. Empty: not given.
class Integers {
public:
  Integers() = default;
  Integers(int64_t value) : values_{value} {}
  Integers(std::initializer_list<int64_t> values) : values_(values) {}
  Integers(std::vector<int64_t> values) : values_(std::move(values)) {}
  const std::vector<int64_t> &values() const { return values_; }

private:
  std::vector<int64_t> values_;
};

/// {0, std::nullopt}: integers and None. Empty: not given.
class Entries {
public:
  Entries() = default;
  Entries(std::initializer_list<std::optional<int64_t>> values) : values_(values) {}
  Entries(std::vector<std::optional<int64_t>> values) : values_(std::move(values)) {}
  const std::vector<std::optional<int64_t>> &values() const { return values_; }

private:
  std::vector<std::optional<int64_t>> values_;
};

} // namespace lstmc::build
