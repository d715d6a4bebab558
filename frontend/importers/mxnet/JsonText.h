// JSON in the layout of MXNet's files: an object of several keys and a list of more than ten items
// have a line for each, two blanks deeper per level.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lstmc::importers::mxnet {

/// With the escapes that MXNet reads: no other than \\ \" \r \n \t.
std::string jsonQuoted(std::string_view text);

/// `depth` is that of the list: the levels that are open around it. `isLong`: a line for each item,
/// whatever their number.
std::string jsonList(const std::vector<std::string> &items, int depth, bool isLong = false);

/// An object of values that are texts already.
class JsonObject {
public:
  explicit JsonObject(int depth) : depth_(depth) {}
  void add(std::string_view key, std::string_view value);
  std::string text() const;

private:
  int depth_;
  std::vector<std::string> items_;
};

} // namespace lstmc::importers::mxnet
