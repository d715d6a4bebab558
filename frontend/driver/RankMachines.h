// The devices of a job's ranks as forecasts see them: what messages between processes cost is
// measured.
#pragma once

#include <string>
#include <vector>

#include "backends/target/Machine.h"
#include "executor/package/PackageData.h"
#include "executor/session/Peers.h"

namespace lstmc::driver {

struct RankMachines {
  target::Machines machines;
  std::vector<int> hosts; ///< of each device, by number
  std::string messages;   ///< "messages  12.1 µs and 3.20 GB/s between ranks of a host"; empty: one
                          ///< process
};

/// All ranks of a job that share the package call it together; `peers` is null where one process
/// has all of it. Hosts are taken to be like this one. `threads`: of each device. E0801 where ranks
/// exchange no messages.
Result<RankMachines> rankMachines(const package::PackageData &data, const Peers *peers,
                                  int threads);

} // namespace lstmc::driver
