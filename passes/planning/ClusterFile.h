// Parser for cluster descriptions: TOML tables with source positions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "executor/base/Status.h"

namespace lstmc::planning {

/// `key = "text"`, `key = 1e9`, `key = ["a", "b"]`: the items as text, and the position of the key.
struct ClusterValue {
  std::string key;
  std::vector<std::string> items;
  Place place;
};

/// A [[name]] table with its values, in file order.
struct ClusterTable {
  std::string name;
  Place place;
  std::vector<ClusterValue> values;

  /// Null if the table lacks the key.
  const ClusterValue *find(std::string_view key) const;
};

/// E0601 for a file that cannot be read, E0603 with the line for invalid TOML (including a
/// duplicate key), E0604 for TOML of another structure.
Result<std::vector<ClusterTable>> readTables(const std::string &path);

} // namespace lstmc::planning
