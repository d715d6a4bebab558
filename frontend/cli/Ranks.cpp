#include "frontend/cli/Ranks.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include <unistd.h>

#include "executor/base/StandardStreams.h"
#include "executor/ranks/Control.h"
#include "executor/ranks/Job.h"
#include "executor/ranks/OpenWire.h"
#include "executor/training/Signals.h"
#include "frontend/cli/Version.h"

namespace lstmc::cli {

namespace {

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

/// Handles the loss of another rank before the job has begun: there is nothing to save yet.
void giveUp(const Error &error) {
  writeMessage(error.text() + "\n");
  ::_exit(int(errorRecord(error.code).exit));
}

void listen() {
  if (!process.control)
    return;
  ranks::Control::Handlers handlers;
  handlers.signal = [](int signal) { ::kill(::getpid(), signal); };
  handlers.lost = giveUp;
  if (ranks::Job *job = process.job.get()) {
    handlers.standing = [job] { return job->standing(); };
    handlers.progress = [job](uint64_t progress) { job->otherRanksAreAt(progress); };
    handlers.lost = [job](const Error &error) { job->breakWith(error); };
  }
  process.control->listen(std::move(handlers));
}

} // namespace

int jobRanks() { return place().ranks; }
int jobRank() { return place().rank; }

int jobServers() {
  const char *text = std::getenv("LSTMC_SERVERS");
  return jobRanks() > 1 && text ? std::clamp(std::atoi(text), 0, jobRanks() - 1) : 0;
}

Status joinLaunch() {
  LSTMC_ASSIGN(std::optional<ranks::Place> place, ranks::placeInJob());
  if (!place || place->control.empty())
    return {};
  LSTMC_ASSIGN(process.control, ranks::Control::connect(*place));
  listen();
  return {};
}

bool isRank() { return process.control != nullptr; }

Result<std::shared_ptr<Peers>> joinJob() {
  if (jobRanks() == 1)
    return std::shared_ptr<Peers>();
  if (process.job)
    return std::shared_ptr<Peers>(process.job);
  LSTMC_ASSIGN(std::string library, ranks::findMpiLibrary());
  LSTMC_ASSIGN(std::unique_ptr<ranks::Link> link, ranks::Link::open([library](std::string &error) {
                 return ranks::openMpiWire(library, error);
               }));
  if (link->ranks() != jobRanks() || link->rank() != jobRank())
    return fail(ErrorCode::E0804,
                "MPI counts this process as rank {} of {}, `lstmc launch` as rank {} of {}",
                link->rank(), link->ranks(), jobRank(), jobRanks());
  process.job = std::make_shared<ranks::Job>(std::move(link),
                                             [] { return training::SignalWatch::pending(); });
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
    process.job->leave();
  }
  if (!process.control)
    return;
  process.control->end(exit, error ? error->text() : "");
  // MPI may have been left without farewell, and has nothing to say at the end of the process.
  std::fflush(nullptr);
  ::_exit(exit);
}

} // namespace lstmc::cli
