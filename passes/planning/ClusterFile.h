// A file of tables in TOML, as descriptions of clusters are: what stands where.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "executor/base/Status.h"

namespace lstmc::planning {

/// `key = "text"`, `key = 1e9`, `key = ["a", "b"]`: the items as text, and where the key stands.
struct ClusterValue {
  std::string key;
  std::vector<std::string> items;
  Place place;
};

/// A [[name]] with its values, in the order of the file.
struct ClusterTable {
  std::string name;
  Place place;
  std::vector<ClusterValue> values;

  /// Null: it has none.
  const ClusterValue *find(std::string_view key) const;
};

/// E0601 for a file that cannot be read, E0603 with its line for what is no TOML (a key that stands
/// twice is none), E0604 for TOML of another form.
Result<std::vector<ClusterTable>> readTables(const std::string &path);

} // namespace lstmc::planning
