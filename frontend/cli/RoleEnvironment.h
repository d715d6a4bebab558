// Variables that only the workers of dist_async are to have, or only its servers.
#pragma once

#include <string>
#include <vector>

#include "executor/base/Status.h"
#include "frontend/launch/Mpirun.h"

namespace lstmc::cli {

/// --env-worker and --env-server, NAME:VALUE or NAME=VALUE, for a job with servers: mpirun gives
/// all ranks one environment, so each finds those of both kinds there. E0001 for other texts.
Status setRoleEnvironment(const std::vector<std::string> &ofWorkers,
                          const std::vector<std::string> &ofServers, launch::Start &start);

/// In a rank, before anything else: becomes this process again, with the variables of its kind.
void takeRoleEnvironment();

} // namespace lstmc::cli
