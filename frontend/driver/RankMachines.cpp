#include "frontend/driver/RankMachines.h"

#include <algorithm>

#include "executor/ranks/Host.h"
#include "executor/ranks/Job.h"
#include "frontend/driver/Ranks.h"
#include "passes/planning/rates/MachineRates.h"

namespace lstmc::driver {

namespace {

/// The host of each rank, by number.
Result<std::vector<int>> hostsOfRanks(ranks::Job &job) {
  LSTMC_ASSIGN(std::vector<std::string> names, job.gather(ranks::hostSpace()));
  std::vector<std::string> seen;
  std::vector<int> hosts;
  for (const std::string &each : names) {
    auto found = std::ranges::find(seen, each);
    hosts.push_back(int(found - seen.begin()));
    if (found == seen.end())
      seen.push_back(each);
  }
  return hosts;
}

std::string textOf(const ranks::PairRate &rate, std::string_view between) {
  return fmt::format("{:.1f} µs and {:.2f} GB/s between {}", 1e6 * rate.seconds,
                     1e-9 * rate.bytesPerSecond, between);
}

} // namespace

Result<RankMachines> rankMachines(const package::PackageData &data, const Peers *peers,
                                  int threads) {
  if (!peers)
    return RankMachines{planning::machinesOf(data, threads), std::vector<int>(data.devices.size()),
                        ""};
  ranks::Job &job = joinedJob();
  LSTMC_ASSIGN(std::vector<int> hosts, hostsOfRanks(job));
  const auto elsewhere =
      size_t(std::ranges::find_if(hosts, [](int host) { return host != 0; }) - hosts.begin());
  const auto beside = size_t(std::find(hosts.begin() + 1, hosts.end(), 0) - hosts.begin());
  std::optional<ranks::PairRate> within, across;
  if (beside < hosts.size()) {
    LSTMC_ASSIGN(within, ranks::measurePair(job, 0, int(beside)));
  }
  if (elsewhere < hosts.size()) {
    LSTMC_ASSIGN(across, ranks::measurePair(job, 0, int(elsewhere)));
  }
  std::vector<DeviceName> ofHost; // that share the first host's processors out
  for (size_t device = 0; device < data.devices.size(); ++device)
    if (hosts[size_t(peers->rankOf(device, data.devices.size()))] == 0) {
      LSTMC_ASSIGN(std::vector<DeviceName> name, parseDevices(data.devices[device].name));
      ofHost.push_back(name[0]);
    }
  const target::Machines first = planning::machinesOf(ofHost, threads);
  RankMachines all;
  for (size_t device = 0; device < data.devices.size(); ++device) {
    const int rank = peers->rankOf(device, data.devices.size());
    all.hosts.push_back(hosts[size_t(rank)]);
    target::Machine &machine = all.machines.emplace_back(first[std::min(device, first.size() - 1)]);
    // Ranks of one host each have a way of their own to the others; those of several hosts share
    // the interface.
    const ranks::PairRate &rate = across ? *across : *within;
    machine.host = across ? hosts[size_t(rank)] : rank;
    machine.nic = {rate.bytesPerSecond, rate.bytesPerSecond, rate.seconds / 2, rate.seconds / 2};
    if (across && within)
      machine.link = {within->seconds, within->bytesPerSecond};
  }
  all.messages =
      "messages  " + textOf(across ? *across : *within, across ? "hosts" : "ranks of a host");
  if (across && within)
    all.messages += ", " + textOf(*within, "ranks of a host");
  return all;
}

} // namespace lstmc::driver
