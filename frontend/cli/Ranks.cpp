#include "frontend/cli/Ranks.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>

#include <unistd.h>

#include "executor/base/StandardStreams.h"
#include "executor/ranks/Control.h"
#include "executor/ranks/Job.h"
#include "executor/ranks/OpenWire.h"
#include "executor/session/RemoteDevice.h"
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

Result<std::vector<DeviceName>> devicesOfJob(const std::vector<DeviceName> &ofRank) {
  if (jobServers() > 0 && ofRank.size() > 1)
    return fail(ErrorCode::E0001, "--kv-store dist_async has one device a rank, found {}",
                ofRank.size());
  const int ranks = jobServers() > 0 ? 1 : jobRanks();
  if (ofRank.size() * size_t(ranks) > size_t(kMaxDevices))
    return fail(ErrorCode::E0001,
                "{} ranks with {} devices each: found {} devices, want at most {}", ranks,
                ofRank.size(), ofRank.size() * size_t(ranks), kMaxDevices);
  std::map<DeviceKind, int> count; // of each kind, to the last index
  for (const DeviceName &name : ofRank)
    count[name.kind] = std::max(count[name.kind], name.index + 1);
  std::vector<DeviceName> devices;
  for (int rank = 0; rank < ranks; ++rank)
    for (const DeviceName &name : ofRank)
      devices.push_back({name.kind, name.index + rank * count[name.kind]});
  return devices;
}

Result<std::vector<std::unique_ptr<Device>>>
makeDevicesOfRank(const std::vector<DeviceName> &names, DeviceOptions options, const Peers *peers) {
  if (!peers)
    return makeDevices(names, options);
  if (names.size() < size_t(peers->ranks()))
    return fail(ErrorCode::E0501, "devices: found {} for {} ranks, want one for each at least",
                names.size(), peers->ranks());
  std::vector<DeviceName> mine;
  for (size_t i = 0; i < names.size(); ++i)
    if (peers->rankOf(i, names.size()) == peers->rank())
      mine.push_back(names[i]);
  LSTMC_ASSIGN(auto made, makeDevices(mine, options));
  std::vector<std::unique_ptr<Device>> devices;
  auto next = made.begin();
  for (size_t i = 0; i < names.size(); ++i)
    devices.push_back(peers->rankOf(i, names.size()) == peers->rank()
                          ? std::move(*next++)
                          : session::makeRemoteDevice(names[i].text()));
  return devices;
}

const Device &deviceHere(const Session &session) {
  size_t device = 0;
  while (session::isRemote(session.device(device)))
    ++device;
  return session.device(device);
}

std::string ranksText(const Session &session) {
  const std::vector<package::Device> &devices = session.package().data().devices;
  std::string text = fmt::format("{} on", jobRanks());
  for (size_t i = 0; i < devices.size(); ++i) {
    const bool first = i == 0 || session.peers()->rankOf(i, devices.size()) !=
                                     session.peers()->rankOf(i - 1, devices.size());
    text += fmt::format("{}{}", i == 0 ? " " : first ? " | " : ",", devices[i].name);
  }
  return text;
}

} // namespace lstmc::cli
