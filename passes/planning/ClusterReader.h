// The values of a table of a cluster's description, checked; and what devices and hosts make of
// them.
#pragma once

#include "passes/planning/Cluster.h"
#include "passes/planning/ClusterFile.h"

namespace lstmc::planning {

/// Errors are at the line of the key.
struct TableReader {
  const std::string &path;
  const ClusterTable &table;

  /// E0604 for a key that is none of them.
  Status check(const std::vector<std::string_view> &known) const;
  /// A positive number, or what stands for it where the table has none.
  Result<double> number(std::string_view key, double otherwise) const;
  /// The same of so many, or of one for all of them.
  Result<std::vector<double>> numbers(std::string_view key, double otherwise, size_t most) const;
  Result<int64_t> count(std::string_view key, int64_t otherwise, int64_t most) const;
  /// The text of a key that has to be there.
  Result<std::string> needed(std::string_view key) const;
  /// Bytes; `name` is whose they are. `otherwise` 0: they have to be there.
  Result<uint64_t> memory(std::string_view name, uint64_t otherwise = 0) const;
  /// The machine that `kind` names, of devices of one target; the built-in one, without memory,
  /// where nothing does.
  Result<target::KnownMachine> kind(DeviceKind device) const;
  /// flops_per_s, bytes_per_s and launch_s, where they are there.
  Result<target::Speeds> speeds(target::Speeds otherwise) const;

  Error wrong(const ClusterValue &value, std::string_view want) const;
};

/// A file of [[device]] and [[link]]: ClusterDevices.cpp.
Result<Cluster> readDevices(const std::string &path, const std::vector<ClusterTable> &tables);
/// A file of [[host]]: ClusterHosts.cpp.
Result<Cluster> readHosts(const std::string &path, const std::vector<ClusterTable> &tables);

} // namespace lstmc::planning
