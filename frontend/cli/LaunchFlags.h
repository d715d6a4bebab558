// The flags of `launch` that say where ranks run and how they are started.
#pragma once

#include "frontend/cli/Console.h"
#include "frontend/cli/Options.h"
#include "frontend/launch/Supervisor.h"

namespace lstmc::cli {

/// Ranks, hosts, network and environment; the command of the ranks is left to the caller.
/// `command`: its flags, which say whether there are servers beside the ranks that are asked for.
/// E0001 for flags that cannot go together, E0503 for a launcher that there is not, E0604 for a
/// file of hosts.
Result<launch::Watch> watchAsked(const Options &options, const Options &command, Console &console);

/// Tries to reach all hosts by ssh, where that starts ranks. E0801 with those that are not
/// reached, and why.
Status checkHosts(const launch::Start &start);

/// Takes hosts that ssh does not reach any more off the list of a job that is to start again, and
/// says which; its ranks go to those that are left. E0801 where none is.
Status leaveLostHosts(launch::Start &start, Console &console);

/// Servers that `launch` starts for a command by --servers, as many as workers where it is not
/// given; 0 where the command needs none. E0001.
Result<int> serversFor(const Options &command, std::optional<int64_t> asked, int64_t workers);

} // namespace lstmc::cli
