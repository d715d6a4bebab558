#include "frontend/cli/DoctorHosts.h"

#include <algorithm>
#include <cstdlib>

#include "executor/base/OwnProgram.h"
#include "executor/ranks/OpenWire.h"
#include "frontend/cli/LaunchFlags.h"
#include "frontend/cli/SignalsForRanks.h"
#include "frontend/driver/Ranks.h"

namespace lstmc::cli {

namespace {

/// Set for ranks that are only to try whether they reach one another.
constexpr const char *kSilently = "LSTMC_DOCTOR_SILENT";

CommandResult measure(const std::vector<std::string> &hosts, Console &console) {
  LSTMC_CHECKED_ASSIGN(std::vector<ranks::PairRate> rates, measureRanks());
  if (std::getenv(kSilently))
    return ExitCode::Ok;
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

/// Ranks of these hosts, which find out how fast messages go between them.
Result<launch::JobEnd> runOn(const std::vector<std::string> &hosts, launch::Watch watch,
                             bool json) {
  if (!watch.start.hosts.empty())
    watch.start.hosts = hosts;
  watch.start.ranks = int(hosts.size());
  // A file of hosts may not be on all of them: their names go along.
  watch.start.command = {ownProgram(), "doctor", "--hosts",
                         fmt::format("{}", fmt::join(hosts, ","))};
  if (json)
    watch.start.command.emplace_back("--json");
  return launch::supervise(watch);
}

/// A job ends at the first pair that exchanges no messages: where one did, each pair is a job of
/// its own, and all those that do not are named.
Result<std::vector<std::string>> silentPairs(const std::vector<std::string> &hosts,
                                             launch::Watch watch) {
  watch.start.environment.insert_or_assign(kSilently, std::string("1"));
  std::vector<std::string> silent;
  for (size_t a = 0; a < hosts.size(); ++a)
    for (size_t b = a + 1; b < hosts.size(); ++b) {
      if (SignalsForRanks::asked().first > 0)
        return silent;
      LSTMC_ASSIGN(launch::JobEnd end, runOn({hosts[a], hosts[b]}, watch, true));
      if (end.exit != 0)
        silent.push_back(fmt::format("{} and {} exchange no messages", hosts[a], hosts[b]));
    }
  return silent;
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
  const SignalsForRanks signals;
  watch.signals = SignalsForRanks::asked;
  const std::vector<std::string> names = hostsOfRanks(hosts, watch.start.ranks);
  LSTMC_CHECKED_ASSIGN(launch::JobEnd end, runOn(names, watch, console.json()));
  if (end.exit == int(ExitCode::Job) && SignalsForRanks::asked().first == 0) {
    LSTMC_CHECKED_ASSIGN(std::vector<std::string> silent, silentPairs(names, watch));
    if (!silent.empty())
      return fail(ErrorCode::E0801, "{}", fmt::join(silent, "; "));
  }
  if (!end.message.empty())
    return fail(end.code, "{}", end.message);
  return ExitCode(end.exit);
}

} // namespace lstmc::cli
