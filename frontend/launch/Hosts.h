// Hosts of a job's ranks, and the launcher that starts the ranks there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "executor/base/Status.h"

namespace lstmc::launch {

/// How ranks are started: on this machine, by ssh, by MPI's own choice, or by a cluster's
/// scheduler.
enum class Launcher { Local, Ssh, Mpi, Slurm, Sge, Yarn };

struct Host {
  std::string name;
  int port = 0;  ///< of its ssh; 0: what ssh itself takes
  int slots = 1; ///< ranks that it takes before the next host has its turn
};

/// Hosts of a file, one a line as `NAME[:PORT] [slots=N]` with comments after #, where there is one
/// of this name; else of a list NAME[:PORT],... . E0604 with the line of the file, E0001 for a
/// list.
Result<std::vector<Host>> readHosts(const std::string &fileOrList);

/// Ranks that fill all slots once.
int slotsOf(const std::vector<Host> &hosts);

/// The host of each rank: the slots of the hosts in order, and again from the first one.
std::vector<std::string> hostsOfRanks(const std::vector<Host> &hosts, int ranks);

} // namespace lstmc::launch
