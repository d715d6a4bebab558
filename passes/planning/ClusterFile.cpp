#include "passes/planning/ClusterFile.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>

namespace lstmc::planning {

namespace {

/// The part of TOML that has tables of arrays, strings, numbers and lists of these. Our own, since
/// messages need lines.
class Scanner {
public:
  Scanner(const std::string &path, std::string text) : path_(path), text_(std::move(text)) {}

  Result<std::vector<ClusterTable>> tables() {
    std::vector<ClusterTable> tables;
    for (skip(true); at_ < text_.size(); skip(true)) {
      if (const Place place = here(); take("[[")) {
        tables.push_back({word(), place, {}});
        if (tables.back().name.empty() || !take("]]"))
          return wrong("a table, [[device]], [[link]] or [[host]]");
      } else {
        LSTMC_ASSIGN(ClusterValue value, pair());
        if (tables.empty())
          return failAt(value.place, ErrorCode::E0604,
                        "found \"{}\" outside of [[device]], [[link]] and [[host]]", value.key);
        if (const ClusterValue *first = tables.back().find(value.key))
          return failAt(value.place, ErrorCode::E0612, "[[{}]] has \"{}\" twice, first in line {}",
                        tables.back().name, value.key, first->place.line);
        tables.back().values.push_back(std::move(value));
      }
      skip(false);
      if (at_ < text_.size() && text_[at_] != '\n')
        return wrong("the end of the line");
    }
    return tables;
  }

private:
  Result<ClusterValue> pair() {
    const Place place = here();
    ClusterValue value{word(), {}, place};
    skip(false);
    if (value.key.empty() || !take("="))
      return wrong("KEY = VALUE or a [[table]]");
    skip(false);
    if (!take("[")) {
      LSTMC_ASSIGN(std::string one, item());
      value.items.push_back(std::move(one));
      return value;
    }
    for (skip(true); !take("]"); skip(true)) {
      LSTMC_ASSIGN(std::string one, item());
      value.items.push_back(std::move(one));
      skip(true);
      if (!take(",") && (at_ == text_.size() || text_[at_] != ']'))
        return wrong("\",\" or \"]\"");
    }
    return value;
  }

  Result<std::string> item() {
    for (char quote : {'"', '\''})
      if (at_ < text_.size() && text_[at_] == quote) {
        const size_t end = text_.find_first_of(std::string("\n\\") + quote, at_ + 1);
        if (end == std::string::npos || text_[end] != quote)
          return wrong("a string in quotes, without \"\\\"");
        std::string text = text_.substr(at_ + 1, end - at_ - 1);
        at_ = end + 1;
        return text;
      }
    std::string text = word();
    return text.empty() ? Result<std::string>(wrong("a number or a string in quotes")) : text;
  }

  /// Letters of a name or of a number.
  std::string word() {
    skip(false);
    const size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) ||
                                  std::string_view("_-+.").find(text_[at_]) != std::string::npos))
      ++at_;
    std::string text = text_.substr(begin, at_ - begin);
    skip(false);
    return text;
  }

  bool take(std::string_view text) {
    if (text_.compare(at_, text.size(), text) != 0)
      return false;
    at_ += text.size();
    return true;
  }

  /// Blanks and comments, and with `lines` ends of lines.
  void skip(bool lines) {
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '#')
        at_ = std::min(text_.find('\n', at_), text_.size());
      if (at_ == text_.size() || !std::isspace(static_cast<unsigned char>(text_[at_])) ||
          (text_[at_] == '\n' && !lines))
        return;
      line_ += text_[at_] == '\n';
    }
  }

  Place here() const {
    const size_t before = at_ == 0 ? std::string::npos : text_.rfind('\n', at_ - 1);
    return {path_, line_, int(before == std::string::npos ? at_ : at_ - before - 1) + 1};
  }

  Error wrong(std::string_view want) const {
    const std::string rest = text_.substr(at_, text_.find('\n', at_) - at_);
    return failAt(here(), ErrorCode::E0603, "not TOML: found {}, want {}",
                  rest.empty() ? "the end of the line" : "\"" + rest.substr(0, 40) + "\"", want);
  }

  const std::string &path_;
  const std::string text_;
  size_t at_ = 0;
  int line_ = 1;
};

} // namespace

const ClusterValue *ClusterTable::find(std::string_view key) const {
  auto found = std::ranges::find(values, key, &ClusterValue::key);
  return found == values.end() ? nullptr : &*found;
}

Result<std::vector<ClusterTable>> readTables(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return failAt({path}, ErrorCode::E0601, "cannot read this description of a cluster");
  return Scanner(path, {std::istreambuf_iterator<char>(file), {}}).tables();
}

} // namespace lstmc::planning
