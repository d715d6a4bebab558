#include "frontend/driver/RankDevices.h"

#include <algorithm>
#include <map>

#include <fmt/ranges.h>

#include "backends/registry/GpuIdentities.h"
#include "executor/device/DeviceKinds.h"
#include "executor/ranks/GpuShares.h"
#include "executor/session/RemoteDevice.h"
#include "executor/session/Session.h"
#include "frontend/driver/Ranks.h"

namespace lstmc::driver {

namespace {

std::string listAsked(const LayoutOptions &options) {
  return fmt::format("{}", fmt::join(*options.devices, ","));
}

bool isCard(const DeviceName &name) { return factsOf(name.kind).isCard; }

/// What the others are told: the GPUs of `mine`, or all of this host where -d says `local`.
ranks::GpusOfRank gpusHere(const std::vector<DeviceName> &mine, const LayoutOptions &options) {
  ranks::GpusOfRank here;
  const std::optional<DeviceKind> local = localGpus(listAsked(options));
  const auto first = std::ranges::find_if(mine, isCard);
  if (first == mine.end())
    return here;
  const DeviceKind kind = local ? *local : first->kind;
  GpuIdentities known = gpuIdentities(kind);
  here.host = known.host;
  here.machine = known.machine;
  here.kind = factsOf(kind).name;
  here.one = local.has_value();
  here.missing = known.missing;
  here.driver = known.driver;
  here.nccl = known.nccl;
  if (local)
    for (size_t i = 0; i < known.identities.size(); ++i)
      here.gpus.push_back({int(i), known.identities[i]});
  else
    for (const DeviceName &name : mine) // one that is not here is refused when it is made
      if (name.kind == kind && size_t(name.index) < known.identities.size())
        here.gpus.push_back({name.index, known.identities[size_t(name.index)]});
  return here;
}

/// A server of dist_async updates on the host, so that all GPUs are left to workers: a device of
/// the CPU in place of each of the package's, whose offsets and launches are those of any device.
std::vector<DeviceName> onHost(const std::vector<DeviceName> &names) {
  std::vector<DeviceName> cpus;
  for (const DeviceName &name : names)
    cpus.push_back(isCard(name) ? DeviceName{DeviceKind::Cpu, int(cpus.size())} : name);
  return cpus;
}

/// The GPU of each of this rank's devices, by number, once all ranks have said which theirs are.
Result<std::vector<int>> gpusOf(std::vector<DeviceName> mine, const LayoutOptions &options,
                                Peers &job) {
  if (options.devices.given() && !isServerRank()) {
    LSTMC_ASSIGN(std::vector<DeviceName> asked, devicesOfRank(options));
    if (asked.size() == mine.size())
      mine = asked;
  }
  LSTMC_ASSIGN(std::vector<std::string> said, job.gather(ranks::packGpus(gpusHere(mine, options))));
  std::vector<ranks::GpusOfRank> all;
  for (const std::string &text : said) {
    LSTMC_ASSIGN(ranks::GpusOfRank rank, ranks::unpackGpus(text));
    all.push_back(std::move(rank));
  }
  LSTMC_ASSIGN(auto shares, ranks::shareOutGpus(all));
  std::vector<int> numbers;
  for (const DeviceName &name : mine)
    numbers.push_back(all[size_t(job.rank())].one ? shares[size_t(job.rank())][0].number
                                                  : name.index);
  return numbers;
}

} // namespace

Result<std::vector<DeviceName>> devicesOfRank(const LayoutOptions &options) {
  const std::string list = listAsked(options);
  if (const std::optional<DeviceKind> kind = localGpus(list))
    return std::vector<DeviceName>{{*kind, 0}};
  return parseDevices(list);
}

Result<std::vector<DeviceName>> devicesOfJob(const std::vector<DeviceName> &ofRank) {
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
      devices.push_back({name.kind, name.index + rank * count[name.kind], name.part});
  return devices;
}

Status checkDevicesHere(const std::vector<DeviceName> &ofJob, const LayoutOptions &options) {
  std::vector<DeviceName> here = isServerRank() ? onHost(ofJob) : ofJob;
  if (jobRanks() > 1 && options.devices.given() && !isServerRank()) {
    if (localGpus(listAsked(options)))
      return {};
    LSTMC_ASSIGN(here, devicesOfRank(options));
  }
  LSTMC_ASSIGN(auto made, makeDevices(here, {.threads = 1}));
  return {};
}

Result<std::vector<std::unique_ptr<Device>>> makeDevicesOfRank(const std::vector<DeviceName> &names,
                                                               const LayoutOptions &options,
                                                               DeviceOptions deviceOptions,
                                                               Peers *job, const Peers *sharers) {
  if (sharers && names.size() < size_t(sharers->ranks()))
    return fail(ErrorCode::E0501, "devices: found {} for {} ranks, want one for each at least",
                names.size(), sharers->ranks());
  auto isMine = [&](size_t device) {
    return !sharers || sharers->rankOf(device, names.size()) == sharers->rank();
  };
  std::vector<DeviceName> mine;
  for (size_t i = 0; i < names.size(); ++i)
    if (isMine(i))
      mine.push_back(names[i]);
  if (isServerRank())
    mine = onHost(mine);
  deviceOptions.channels = sharers != nullptr;
  if (job && std::ranges::any_of(names, isCard)) {
    LSTMC_ASSIGN(deviceOptions.cards, gpusOf(mine, options, *job));
  }
  LSTMC_ASSIGN(auto made, makeDevices(mine, deviceOptions));
  std::vector<std::unique_ptr<Device>> devices;
  auto next = made.begin();
  for (size_t i = 0; i < names.size(); ++i)
    devices.push_back(isMine(i) ? std::move(*next++) : session::makeRemoteDevice(names[i].text()));
  return devices;
}

Result<std::string> ncclOf(const std::vector<std::string> &devices) {
  DeviceKind kind = DeviceKind::Gpu;
  for (const std::string &device : devices) {
    LSTMC_ASSIGN(std::vector<DeviceName> names, parseDevices(device));
    if (!isCard(names[0]))
      return std::string();
    kind = names[0].kind;
  }
  return ncclVersion(kind);
}

std::string ncclText(const Session &session) {
  std::vector<std::string> devices;
  for (const package::Device &device : session.package().data().devices)
    devices.push_back(device.name);
  const Result<std::string> nccl = ncclOf(devices);
  if (!nccl.ok())
    return "nccl      none, so values between GPUs of ranks go by way of the hosts' memory: " +
           nccl.error().message;
  return nccl->empty() ? "" : "nccl      " + *nccl;
}

const Device &deviceHere(const Session &session) {
  size_t device = 0;
  while (session::isRemote(session.device(device)))
    ++device;
  return session.device(device);
}

std::string ranksText(const Session &session, const std::vector<passes::BatchShare> &shares) {
  const std::vector<package::Device> &devices = session.package().data().devices;
  std::string text = fmt::format("{} on", jobRanks());
  for (size_t i = 0; i < devices.size(); ++i) {
    const bool first = i == 0 || session.peers()->rankOf(i, devices.size()) !=
                                     session.peers()->rankOf(i - 1, devices.size());
    text += fmt::format("{}{}", i == 0 ? " " : first ? " | " : ",", devices[i].name);
  }
  if (shares.empty())
    return text;
  std::vector<int64_t> rows(size_t(jobRanks()), 0);
  for (size_t i = 0; i < devices.size(); ++i)
    if (auto own = std::ranges::find(shares, devices[i].name, &passes::BatchShare::device);
        own != shares.end())
      rows[size_t(session.peers()->rankOf(i, devices.size()))] += own->rows;
  return text + fmt::format(", rows {} of {}", fmt::join(rows, " | "), shares[0].batch);
}

} // namespace lstmc::driver
