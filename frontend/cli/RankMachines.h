// The devices of a job's ranks as forecasts see them: what messages between processes cost is
// measured.
#pragma once

#include <string>

#include "backends/target/Machine.h"
#include "executor/session/Session.h"

namespace lstmc::cli {

struct RankMachines {
  target::Machines machines;
  std::string messages; ///< "messages  12.1 µs and 3.20 GB/s between ranks of a host"; empty: one
                        ///< process
};

/// All ranks of a job call it together. Hosts are taken to be like this one. `threads`: of each
/// device. E0801 where ranks exchange no messages.
Result<RankMachines> rankMachines(const Session &session, int threads);

} // namespace lstmc::cli
