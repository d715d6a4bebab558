// A cluster described in a TOML file, for `plan --cluster`.
#pragma once

#include <string>

#include "executor/device/DeviceNames.h"
#include "passes/planning/PackageForecast.h"

namespace lstmc::planning {

/// Devices in the order of the file; every list has one item per device.
struct Cluster {
  std::vector<DeviceName> devices;
  Capacities memory;
  target::Machines machines;
  std::vector<std::string>
      hosts; ///< host names, indexed by Machine::host; empty if devices are connected by links
};

/// Maximum number of hosts in a file.
inline constexpr int64_t kMostHosts = 512;

/// A file such as
///
///     [[device]]
///     name = "cpu:0"          # as -d and --place take it
///     kind = "H200"           # of a gpu: a card whose memory and rates are known
///     memory = "16G"          # may be left out where the kind says it
///     flops_per_s = 2e11      # of a product; left out: the built-in figure, as bytes_per_s and
///                             launch_s
///
///     [[link]]
///     between = ["cpu:0", "cpu:1"]   # left out: every two devices that no other link names
///     bytes_per_s = 1.2e9
///     latency_s = 2e-5
///
/// or, of hosts, each of which runs one process of a job (`lstmc launch`):
///
///     [[host]]
///     name = "node"           # of several node0, node1, ..
///     count = 8               # 1
///     devices = "2xcpu"       # of each host, as -d of a rank takes them; cpu
///     kind = "H200"           # of its devices, if these are gpu; memory is theirs then
///     cores = 16              # shared evenly by its devices; one each
///     memory = "64G"          # the same
///     flops_per_s = 5e10      # of a core
///     bytes_per_s = 8e10      # of the memory, which the devices share evenly
///     launch_s = 1e-6
///     nic_bytes_per_s = 1.25e9       # of each direction, or [sending, receiving]
///     nic_latency_s = [2e-5, 1e-5]   # the same
///
/// Devices of hosts are numbered as those of ranks are: cpu:0 and cpu:1 are the first host's.
///
/// Errors have the line. E0601 for a file that cannot be read, E0603 for what is no TOML, E0604 for
/// what is in no such file, E0612 for a device or key that stands twice.
Result<Cluster> readCluster(const std::string &path);

/// The devices that `names` lists, in that order; E0001 for a name that the cluster lacks. A
/// partition of a GPU (gpu:0.1) takes the GPU's row; partitions share its memory.
Result<Cluster> chosen(const Cluster &cluster, const std::vector<DeviceName> &names);

} // namespace lstmc::planning
