// A strict JSON parser for our own files: it refuses what general parsers tolerate.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "executor/base/Limits.h"
#include "executor/base/Status.h"

namespace lstmc::data {

/// A parsed value that is freed without memory: nlohmann's containers allocate when they are
/// destroyed, and end the program if they cannot.
class JsonTree {
public:
  JsonTree() = default;
  JsonTree(JsonTree &&) = default;
  JsonTree &operator=(JsonTree &&) = delete;
  ~JsonTree() { empty(root); }

  const nlohmann::json &operator*() const { return root; }
  const nlohmann::json *operator->() const { return &root; }

  nlohmann::json root;

private:
  /// From the leaves up, as an empty container needs nothing. Nested as deep as `limits` allowed.
  static void empty(nlohmann::json &value);
};

/// Parses `text`, which has to be exactly one JSON value. Refused, with the byte: text that is not
/// JSON or not UTF-8 (E0603), a key that occurs twice (E0612), nesting, strings or a number of
/// values above `limits` (E0606).
Result<JsonTree> parseJson(std::string_view text, const std::string &file, const Limits &limits);

/// An iterator over text that records how far the parser has come.
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
