// JSON of our own files, read without the leniencies of a general parser.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "executor/base/Limits.h"
#include "executor/base/Status.h"

namespace lstmc::data {

/// Parses one JSON value that fills `text`. Refused, with the byte: what is no JSON or no UTF-8
/// (E0603), a key twice (E0612), nesting, strings or numbers of values beyond `limits` (E0606).
Result<nlohmann::json> parseJson(std::string_view text, const std::string &file,
                                 const Limits &limits);

/// An iterator over text that tells how far the parser has come.
struct CountingIterator {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char *;
  using reference = const char &;

  const char *here;
  const char **furthest;

  reference operator*() const { return *here; }
  CountingIterator &operator++() {
    *furthest = ++here;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountingIterator &other) const { return here == other.here; }
  bool operator!=(const CountingIterator &other) const { return here != other.here; }
};

} // namespace lstmc::data
