// Validated access to the tables of a cluster description, and conversion of its devices and hosts.
#pragma once

#include "passes/planning/Cluster.h"
#include "passes/planning/ClusterFile.h"

namespace lstmc::planning {

/// Reads the values of one table. Errors are at the line of the key.
struct TableReader {
  const std::string &path;
  const ClusterTable &table;

  /// E0604 for a key that is not in `known`.
  Status check(const std::vector<std::string_view> &known) const;
  /// A positive number; `otherwise` if the table lacks the key.
  Result<double> number(std::string_view key, double otherwise) const;
  /// The same for up to `most` numbers; a single number applies to all.
  Result<std::vector<double>> numbers(std::string_view key, double otherwise, size_t most) const;
  Result<int64_t> count(std::string_view key, int64_t otherwise, int64_t most) const;
  /// The text of a required key.
  Result<std::string> needed(std::string_view key) const;
  /// Bytes of the device or host `name`. With `otherwise` 0 the key is required.
  Result<uint64_t> memory(std::string_view name, uint64_t otherwise = 0) const;
  /// The machine named by `kind`, for devices of one target; without `kind` the built-in machine,
  /// without memory.
  Result<target::KnownMachine> kind(DeviceKind device) const;
  /// flops_per_s, bytes_per_s and launch_s, as far as the table has them.
  Result<target::Speeds> speeds(target::Speeds otherwise) const;

  Error wrong(const ClusterValue &value, std::string_view want) const;
};

/// Reads a file of [[device]] and [[link]] tables: ClusterDevices.cpp.
Result<Cluster> readDevices(const std::string &path, const std::vector<ClusterTable> &tables);
/// Reads a file of [[host]] tables: ClusterHosts.cpp.
Result<Cluster> readHosts(const std::string &path, const std::vector<ClusterTable> &tables);

} // namespace lstmc::planning
