// `launch -n auto`: a rank for each GPU.
#pragma once

#include <vector>

#include "executor/base/Status.h"
#include "frontend/cli/Options.h"
#include "frontend/launch/Mpirun.h"

namespace lstmc::cli {

bool asksForAutoRanks(const Options &options);

/// The hosts with a slot for each of their GPUs, and without those that have none; this machine
/// where no hosts are given. The GPUs are of the kind that `command` has by -d gpu:local (E0001),
/// and `start` has what the ranks will be started with. E0501 where there is no GPU on any host.
Result<std::vector<launch::Host>>
hostsByGpus(const Options &command, std::vector<launch::Host> hosts, const launch::Start &start);

} // namespace lstmc::cli
