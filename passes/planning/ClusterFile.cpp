#include "passes/planning/ClusterFile.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace lstmc::planning {

namespace {

constexpr std::string_view kWanted = "[[device]], [[link]] and [[host]]";

/// The text of a value as in the file, except for the format of numbers.
std::optional<std::string> textOf(const toml::node &node) {
  if (auto text = node.value_exact<std::string>())
    return text;
  if (auto number = node.value_exact<int64_t>())
    return fmt::format("{}", *number);
  if (auto number = node.value_exact<double>())
    return fmt::format("{}", *number);
  return std::nullopt;
}

class Tables {
public:
  explicit Tables(const std::string &path) : path_(path) {}

  Result<std::vector<ClusterTable>> of(const toml::table &file) {
    for (const auto &[name, node] : file) {
      const toml::array *all = node.as_array();
      if (!all || !all->is_homogeneous<toml::table>())
        return failAt(placeOf(name.source()), ErrorCode::E0604, "found \"{}\" outside of {}",
                      name.str(), kWanted);
      for (const toml::node &one : *all)
        LSTMC_TRY(add(name.str(), *one.as_table()));
    }
    std::ranges::sort(tables_, {}, [](const ClusterTable &table) { return table.place.line; });
    return std::move(tables_);
  }

private:
  Status add(std::string_view name, const toml::table &found) {
    ClusterTable table{std::string(name), placeOf(found.source()), {}};
    for (const auto &[key, node] : found) {
      ClusterValue value{std::string(key.str()), {}, placeOf(key.source())};
      const toml::array *list = node.as_array();
      const size_t count = list ? list->size() : 1;
      for (size_t i = 0; i < count; ++i) {
        std::optional<std::string> text = textOf(list ? (*list)[i] : node);
        if (!text)
          return failAt(value.place, ErrorCode::E0604,
                        "{} of a [[{}]]: want a number, a text or a list of these", value.key,
                        name);
        value.items.push_back(std::move(*text));
      }
      table.values.push_back(std::move(value));
    }
    tables_.push_back(std::move(table));
    return {};
  }

  Place placeOf(const toml::source_region &source) const {
    return {path_, int(source.begin.line), int(source.begin.column)};
  }

  const std::string &path_;
  std::vector<ClusterTable> tables_;
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
  try {
    return Tables(path).of(toml::parse(file, path));
  } catch (const toml::parse_error &error) {
    const toml::source_position at = error.source().begin;
    return failAt({path, int(at.line), int(at.column)}, ErrorCode::E0603, "not TOML: {}",
                  error.description());
  }
}

} // namespace lstmc::planning
