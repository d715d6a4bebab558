// launch --sync-dst-dir: what ranks need of this machine, brought to their hosts.
#pragma once

#include "frontend/cli/Options.h"
#include "frontend/launch/Supervisor.h"

namespace lstmc::cli {

/// Copies the command, its libraries and what the flags of `command` name by relative paths to
/// `folder` of each host of the job, and has the ranks run there. E0001, E0601, E0801.
Status syncTo(const std::string &folder, const Options &command, const std::string &mpiLibrary,
              launch::Watch &watch);

/// The program that ranks run: this one, or its copy.
std::string programOf(const launch::Start &start);

/// Each host of the job once, rank 0's first; "localhost" where none is named.
std::vector<std::string> hostsOf(const launch::Start &start);

} // namespace lstmc::cli
