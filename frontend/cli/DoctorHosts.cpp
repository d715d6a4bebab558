#include "frontend/cli/DoctorHosts.h"

#include <algorithm>
#include <filesystem>

#include "executor/ranks/OpenWire.h"
#include "frontend/cli/LaunchFlags.h"
#include "frontend/cli/Ranks.h"
#include "frontend/cli/SignalsForRanks.h"

namespace lstmc::cli {

namespace {

CommandResult measure(const std::vector<std::string> &hosts, Console &console) {
  LSTMC_CHECKED_ASSIGN(std::vector<ranks::PairRate> rates, measureRanks());
  if (console.json()) {
    nlohmann::ordered_json pairs = nlohmann::ordered_json::array();
    for (const ranks::PairRate &rate : rates)
      pairs.push_back({{"hosts", {hosts[size_t(rate.a)], hosts[size_t(rate.b)]}},
                       {"ranks", {rate.a, rate.b}},
                       {"message_s", rate.seconds},
                       {"bytes_per_s", rate.bytesPerSecond}});
    console.print(nlohmann::ordered_json{{"schema", "lstmc.doctor/1"}, {"pairs", pairs}});
    return ExitCode::Ok;
  }
  size_t width = 4;
  for (const std::string &host : hosts)
    width = std::max(width, host.size());
  for (const ranks::PairRate &rate : rates)
    console.print(fmt::format("{:<{}}  {:<{}}  {:>9.1f} µs  {:>7.2f} GB/s", hosts[size_t(rate.a)],
                              width, hosts[size_t(rate.b)], width, 1e6 * rate.seconds,
                              1e-9 * rate.bytesPerSecond));
  return ExitCode::Ok;
}

} // namespace

CommandResult doctorHosts(const Options &options, Console &console) {
  LSTMC_CHECKED_ASSIGN(std::vector<launch::Host> hosts, launch::readHosts(*options.hosts));
  if (isRank())
    return measure(hostsOfRanks(hosts, jobRanks()), console);
  LSTMC_CHECKED_ASSIGN(launch::Watch watch, watchAsked(options, options, console));
  if (watch.start.ranks < 2)
    return fail(ErrorCode::E0001, "doctor --hosts measures between hosts: found one, want two");
  LSTMC_CHECKED_ASSIGN(std::string library, ranks::findMpiLibrary());
  LSTMC_CHECKED_TRY(checkHosts(watch.start));
  console.say(fmt::format("launch    {} ranks by {}", watch.start.ranks, library), 1);
  // A file of hosts may not be on all of them: their names go along.
  watch.start.command = {std::filesystem::read_symlink("/proc/self/exe").string(), "doctor",
                         "--hosts",
                         fmt::format("{}", fmt::join(hostsOfRanks(hosts, watch.start.ranks), ","))};
  if (console.json())
    watch.start.command.emplace_back("--json");
  const SignalsForRanks signals;
  watch.signals = SignalsForRanks::asked;
  LSTMC_CHECKED_ASSIGN(launch::JobEnd end, launch::supervise(watch));
  if (!end.message.empty())
    return fail(ErrorCode::E0801, "{}", end.message);
  return ExitCode(end.exit);
}

} // namespace lstmc::cli
