// doctor --hosts: messages between hosts.
#pragma once

#include "frontend/cli/CommandResult.h"
#include "frontend/cli/Console.h"
#include "frontend/cli/Options.h"

namespace lstmc::cli {

/// Starts a rank on each host, which measure every pair; as one of these ranks, measures. E0801
/// with the hosts that ssh does not reach, or the pair that exchanges nothing.
CommandResult doctorHosts(const Options &options, Console &console);

} // namespace lstmc::cli
