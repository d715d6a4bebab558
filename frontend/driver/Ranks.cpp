#include "frontend/driver/Ranks.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include <unistd.h>

#include "executor/base/StandardStreams.h"
#include "executor/ranks/Control.h"
#include "executor/ranks/Daemon.h"
#include "executor/ranks/Job.h"
#include "executor/ranks/OpenWire.h"
#include "executor/training/Signals.h"
#include "frontend/driver/Version.h"

namespace lstmc::driver {

namespace {

/// `launch` knows more than a rank, and is to be the first to say what is stuck.
constexpr std::chrono::seconds kAfterLaunch(10);

/// Of the process, as its standard streams are.
struct Process {
  std::unique_ptr<ranks::Control> control;
  std::shared_ptr<ranks::Job> job;
};
Process process;

ranks::Place place() {
  Result<std::optional<ranks::Place>> found = ranks::placeInJob();
  return found.ok() && *found ? **found : ranks::Place();
}

/// The process does not leave by itself, and nobody else may be able to end it.
void leaveNow() {
  removeTemporaryFiles();
  if (process.control->orphaned())
    ranks::endDaemon();
  ::_exit(int(ExitCode::Job));
}

/// Handles the loss of another rank before the job has begun: there is nothing to save yet.
void giveUp(const Error &error) {
  writeMessage(error.text() + "\n");
  ::_exit(int(errorRecord(error.code).exit));
}

/// `waits`: what for, while this rank has nothing to do but wait for all others.
void listen(const char *waits = nullptr) {
  if (!process.control)
    return;
  ranks::Control::Handlers handlers;
  handlers.signal = [](int signal) { ::kill(::getpid(), signal); };
  handlers.lost = giveUp;
  handlers.overdue = leaveNow;
  if (jobRanks() == 1) // nobody waits for it, and its session has a watchdog
    handlers.standing = [] {
      const auto now = std::chrono::steady_clock::now().time_since_epoch();
      return Standing{uint64_t(now.count()), "", Standing::At::Run};
    };
  if (ranks::Job *job = process.job.get()) {
    handlers.standing = [job] { return job->standing(); };
    handlers.progress = [job](uint64_t progress) { job->otherRanksAreAt(progress); };
    handlers.lost = [job](const Error &error) { job->breakWith(error); };
  }
  if (waits)
    handlers.standing = [waits] { return Standing{0, waits, Standing::At::Wait}; };
  process.control->listen(std::move(handlers));
}

} // namespace

int jobRanks() { return place().ranks; }
int jobRank() { return place().rank; }

int jobServers() {
  const char *text = std::getenv("LSTMC_SERVERS");
  return jobRanks() > 1 && text ? std::clamp(std::atoi(text), 0, jobRanks() - 1) : 0;
}

bool isServerRank() { return jobRank() >= jobRanks() - jobServers(); }

Status joinLaunch() {
  LSTMC_ASSIGN(std::optional<ranks::Place> place, ranks::placeInJob());
  if (!place || place->control.empty())
    return {};
  LSTMC_ASSIGN(process.control, ranks::Control::connect(*place));
  listen();
  return {};
}

std::chrono::milliseconds stuckTimeout() {
  const char *text = std::getenv("LSTMC_STUCK_TIMEOUT");
  const int64_t asked = text ? std::atoll(text) : 0;
  return std::chrono::milliseconds(asked > 0 ? asked : 60'000);
}

std::chrono::milliseconds patienceWithRanks() { return stuckTimeout() + kAfterLaunch; }

bool isRank() { return process.control != nullptr; }

Result<std::shared_ptr<Peers>> joinJob() {
  if (jobRanks() == 1)
    return std::shared_ptr<Peers>();
  if (process.job)
    return std::shared_ptr<Peers>(process.job);
  LSTMC_ASSIGN(std::string library, ranks::findMpiLibrary());
  listen("it waits for all ranks to join");
  LSTMC_ASSIGN(std::unique_ptr<ranks::Link> link, ranks::Link::open([library](std::string &error) {
                 return ranks::openMpiWire(library, error);
               }));
  if (link->ranks() != jobRanks() || link->rank() != jobRank())
    return fail(ErrorCode::E0804,
                "MPI counts this process as rank {} of {}, `lstmc launch` as rank {} of {}",
                link->rank(), link->ranks(), jobRank(), jobRanks());
  process.job = std::make_shared<ranks::Job>(std::move(link),
                                             [] { return training::SignalWatch::pending(); });
  if (process.control)
    process.job->bePatient(patienceWithRanks());
  listen();
  LSTMC_TRY(agree(*process.job, "version of lstmc", versionLine()));
  LSTMC_TRY(agree(*process.job, "library of ranks", process.job->library()));
  return std::shared_ptr<Peers>(process.job);
}

ranks::Job &joinedJob() { return *process.job; }

Result<std::vector<ranks::PairRate>> measureRanks() {
  LSTMC_ASSIGN(std::shared_ptr<Peers> job, joinJob());
  return job ? measurePairs(*process.job) : std::vector<ranks::PairRate>();
}

void leaveJob(int exit, const Error *error) {
  if (process.job) {
    if (error)
      process.job->abort(fail(error->code, "rank {}: {}", jobRank(), error->text()));
    listen("it has done its work");
    process.job->leave();
  }
  if (!process.control)
    return;
  process.control->end(exit, process.job != nullptr, error ? error->text() : "");
  if (process.control->orphaned())
    ranks::endDaemon();
  // MPI may have been left without farewell, and has nothing to say at the end of the process.
  std::fflush(nullptr);
  ::_exit(exit);
}

} // namespace lstmc::driver
