// This process as a rank of a job, where `lstmc launch` has started it.
#pragma once

#include <chrono>
#include <memory>
#include <string_view>
#include <vector>

#include "executor/base/Status.h"
#include "executor/ranks/PairRates.h"
#include "executor/session/Peers.h"

namespace lstmc::ranks {
class Job;
}

namespace lstmc::driver {

/// Ranks of the job; 1 for a process by itself.
int jobRanks();
/// Which of them this is; 0 for a process by itself. Only 0 writes and prints.
int jobRank();

/// How many of the ranks, the last ones, are servers of dist_async.
int jobServers();
/// Whether this process is one of those.
bool isServerRank();

/// Connects with `lstmc launch`, if it has started this process, so that it knows of this rank from
/// here on. E0001, E0801.
Status joinLaunch();

/// `launch --stuck-timeout`: how long a launch of a rank may take.
std::chrono::milliseconds stuckTimeout();
/// How long a rank waits for others while none of them gets on. Longer than `launch`, which names
/// the one that is stuck.
std::chrono::milliseconds patienceWithRanks();

/// Whether it has: `launch` has measured the machine for all of its ranks.
bool isRank();

/// The job, with all ranks together; null for a process by itself. Joined by the first call. E0503
/// without MPI, E0804 where the ranks are not of one version.
Result<std::shared_ptr<Peers>> joinJob();

/// As joinJob() has made it.
ranks::Job &joinedJob();

/// The rates of messages between all ranks of this job. E0503, E0801, E0804.
Result<std::vector<ranks::PairRate>> measureRanks();

/// The last thing that a rank does: leaves the job in good order, or, where `error` kept it from
/// going on, with that for the others. Comes back where there is no job.
void leaveJob(int exit, const Error *error);

} // namespace lstmc::driver
