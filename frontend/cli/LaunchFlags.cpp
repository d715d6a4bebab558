#include "frontend/cli/LaunchFlags.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "frontend/cli/AutoRanks.h"
#include "frontend/cli/RoleEnvironment.h"
#include "frontend/driver/AsyncStore.h"
#include "frontend/launch/Network.h"
#include "frontend/launch/Ssh.h"

extern char **environ;

namespace lstmc::cli {

namespace {

constexpr int kMostRanks = 64;

using launch::Launcher;

bool isScheduler(Launcher launcher) {
  return launcher == Launcher::Slurm || launcher == Launcher::Sge;
}

Result<Launcher> launcherAsked(const Options &options) {
  const Launcher launcher =
      options.launcher.value_or(options.hosts ? Launcher::Ssh : Launcher::Local);
  if (launcher == Launcher::Yarn)
    return fail(ErrorCode::E0503,
                "--launcher yarn: YARN starts its containers for a Java client and has no mpirun; "
                "--launcher ssh -H HOSTS runs on the same machines");
  if (options.hosts && (launcher == Launcher::Local || isScheduler(launcher)))
    return fail(
        ErrorCode::E0001, "--hosts is for --launcher ssh or mpi; with {} {}", wordOf(launcher),
        launcher == Launcher::Local ? "all ranks run here" : "the scheduler chooses the hosts");
  if (!options.hosts && launcher == Launcher::Ssh)
    return fail(ErrorCode::E0001, "--launcher ssh wants --hosts FILE or --hosts a,b");
  return launcher;
}

/// Where all ranks run here, nothing has to be reached.
void stayHereIfAll(launch::Start &start) {
  if (start.hosts.empty() || !std::ranges::all_of(start.hosts, launch::isThisMachine))
    return;
  start.hosts.clear();
  start.launcher = Launcher::Local;
}

/// The hosts of the ranks, and the port of their ssh.
Status takeHosts(const Options &options, const Options &command, launch::Start &start) {
  std::vector<launch::Host> hosts;
  if (options.hosts) {
    LSTMC_ASSIGN(hosts, launch::readHosts(*options.hosts));
  }
  for (const launch::Host &host : hosts) {
    if (start.sshPort != 0 && host.port != 0 && host.port != start.sshPort)
      return fail(ErrorCode::E0001,
                  "hosts: {} has port {} and another one {}, want one port for all; the Port of "
                  "~/.ssh/config may differ from host to host",
                  host.name, host.port, start.sshPort);
    start.sshPort = std::max(start.sshPort, host.port);
  }
  if (asksForAutoRanks(options)) {
    LSTMC_ASSIGN(hosts, hostsByGpus(command, hosts, start));
    start.leavesOutLostRanks = true;
  }
  int64_t ranks = hosts.empty() ? 1 : launch::slotsOf(hosts);
  if (options.ranks && !asksForAutoRanks(options)) {
    LSTMC_ASSIGN(ranks, Count::parse("ranks", *options.ranks));
  }
  if (ranks < 1 || ranks > kMostRanks)
    return fail(ErrorCode::E0001, "--ranks takes 1 to {}, got {}", kMostRanks, ranks);
  LSTMC_ASSIGN(int servers, serversFor(command, options.servers, ranks));
  if (ranks + servers > kMostRanks)
    return fail(ErrorCode::E0001, "{} workers and {} servers: found {} ranks, want at most {}",
                ranks, servers, ranks + servers, kMostRanks);
  if (asksForAutoRanks(options) && servers > 0)
    return fail(ErrorCode::E0001,
                "--ranks auto is for ranks that have a GPU each: with servers of dist_async give "
                "their numbers, -n and -s");
  start.ranks = int(ranks) + servers;
  if (servers > 0)
    start.environment["LSTMC_SERVERS"] = std::to_string(servers);
  start.hosts = hosts.empty() ? std::vector<std::string>() : hostsOfRanks(hosts, start.ranks);
  return {};
}

/// Where ranks connect to, and the network that messages take.
Status takeNetwork(const Options &options, launch::Watch &watch) {
  launch::Start &start = watch.start;
  const int64_t ports = 2 * start.ranks + 8;
  if (*options.port != 0 && (*options.port < 1 || *options.port + ports > 65535))
    return fail(ErrorCode::E0001, "--port: found {}, want 1 to {} for {} ranks", *options.port,
                65535 - ports, start.ranks);
  start.port = int(*options.port);
  start.interface = options.interface.value_or("");
  if (options.interface) {
    LSTMC_ASSIGN(watch.address, launch::addressOfInterface(*options.interface));
    return {};
  }
  if (isScheduler(start.launcher)) {
    // The scheduler's hosts are not known yet; they know this one by its name.
    return fail(ErrorCode::E0001,
                "--launcher {} wants --interface NAME: the network by which the scheduler's hosts "
                "reach this machine",
                wordOf(start.launcher));
  }
  const auto away = std::ranges::find_if_not(start.hosts, launch::isThisMachine);
  if (away != start.hosts.end()) {
    LSTMC_ASSIGN(watch.address, launch::addressTowards(*away));
  } else {
    start.interface = "lo";
  }
  return {};
}

/// As MPI is bound by mpirun's words.
void bindNccl(launch::Start &start) {
  if (!start.interface.empty())
    start.environment.emplace("NCCL_SOCKET_IFNAME", "=" + start.interface);
}

Status takeEnvironment(const Options &options, launch::Start &start) {
  auto &variables = start.environment;
  // What this process was told by its environment, ranks on other hosts are told too.
  for (char **at = environ; *at; ++at) {
    const std::string_view text = *at;
    if (const size_t equal = text.find('='); text.starts_with("LSTMC_") && equal < text.size())
      variables[std::string(text.substr(0, equal))] = text.substr(equal + 1);
  }
  variables.erase("LSTMC_RANK"); // each has its own
  for (const std::string &text : options.environment) {
    const size_t equal = text.find('=');
    const std::string name = text.substr(0, equal);
    const char *here = std::getenv(name.c_str());
    if (name.empty() || (equal == std::string::npos && !here))
      return fail(ErrorCode::E0001,
                  "--env takes NAME=VALUE, or the NAME of a variable that is set here; got \"{}\"",
                  text);
    variables[name] = equal == std::string::npos ? here : text.substr(equal + 1);
  }
  return {};
}

Status takeLogs(const Options &options, launch::Start &start) {
  if (!options.logDir)
    return {};
  std::error_code error;
  std::filesystem::create_directories(*options.logDir, error);
  if (error)
    return failAt({*options.logDir}, ErrorCode::E0601, "cannot be made for logs: {}",
                  error.message());
  std::string whole = std::filesystem::absolute(*options.logDir, error).string();
  start.environment["LSTMC_LOG_DIR"] = error ? *options.logDir : whole;
  return {};
}

} // namespace

static Result<std::chrono::milliseconds> timeAsked(const char *flag, const training::Amount &time) {
  if (time.unit != training::Amount::Unit::Seconds)
    return fail(ErrorCode::E0001, "--{} takes a time such as 60s, got {}", flag, time.text());
  return std::chrono::milliseconds(int64_t(1000 * time.value));
}

Result<launch::Watch> watchAsked(const Options &options, const Options &command, Console &console) {
  launch::Watch watch;
  LSTMC_ASSIGN(watch.rendezvousTimeout,
               timeAsked("rendezvous-timeout", *options.rendezvousTimeout));
  LSTMC_ASSIGN(watch.stuckTimeout, timeAsked("stuck-timeout", *options.stuckTimeout));
  LSTMC_ASSIGN(watch.start.launcher, launcherAsked(options));
  LSTMC_TRY(takeEnvironment(options, watch.start));
  watch.start.environment["LSTMC_STUCK_TIMEOUT"] = std::to_string(watch.stuckTimeout.count());
  LSTMC_TRY(takeHosts(options, command, watch.start));
  LSTMC_TRY(takeNetwork(options, watch));
  bindNccl(watch.start);
  stayHereIfAll(watch.start);
  LSTMC_TRY(takeLogs(options, watch.start));
  watch.start.parallelEnvironment = *options.parallelEnvironment;
  if (options.isGiven(Flag::parallelEnvironment) && watch.start.launcher != Launcher::Sge)
    console.say("note: --parallel-environment has no effect: --launcher sge alone reads it");
  LSTMC_TRY(setRoleEnvironment(options.workerEnvironment, options.serverEnvironment, watch.start));
  if (!watch.start.environment.contains("LSTMC_SERVERS") &&
      (options.servers || !options.serverEnvironment.empty()))
    console.say("note: no rank is a server: with this --kv-store ranks add up gradients "
                "themselves; dist_async has servers");
  watch.log = [&console](const std::string &text) { console.say("launch    " + text, 1); };
  return watch;
}

/// Hosts that ssh does not reach, with its reasons.
static std::map<std::string, std::string> unreachable(const launch::Start &start) {
  std::map<std::string, std::string> lost;
  if (start.launcher != Launcher::Ssh)
    return lost;
  const std::set<std::string> names(start.hosts.begin(), start.hosts.end());
  const std::vector<std::string> hosts(names.begin(), names.end());
  const auto answers = launch::tryHosts(hosts, start.sshPort);
  for (size_t i = 0; i < hosts.size(); ++i)
    if (answers[i])
      lost[hosts[i]] = *answers[i];
  return lost;
}

Status checkHosts(const launch::Start &start) {
  std::vector<std::string> lost;
  for (const auto &[host, reason] : unreachable(start))
    lost.push_back(fmt::format("host {} is not reached: {}", host, reason));
  if (lost.empty())
    return {};
  return fail(ErrorCode::E0801, "{}", fmt::join(lost, "; "));
}

Status leaveLostHosts(launch::Start &start, Console &console) {
  const std::map<std::string, std::string> lost = unreachable(start);
  if (lost.empty())
    return {};
  for (const auto &[host, reason] : lost)
    console.say(fmt::format("launch    goes on without host {}: {}", host, reason));
  std::vector<std::string> left;
  for (const std::string &host : start.hosts)
    if (!lost.contains(host))
      left.push_back(host);
  if (left.empty())
    return fail(ErrorCode::E0801, "none of the hosts is reached any more");
  if (start.leavesOutLostRanks) {
    start.hosts = left;
    start.ranks = int(left.size());
  }
  for (size_t rank = 0; rank < start.hosts.size(); ++rank)
    start.hosts[rank] = left[rank % left.size()];
  stayHereIfAll(start);
  return {};
}

Result<int> serversFor(const Options &command, std::optional<int64_t> asked, int64_t workers) {
  if (!saysAsync(command) || *command.staleness == 0)
    return 0;
  if (command.command != CommandId::Train)
    return fail(ErrorCode::E0001, "--kv-store {} is for train", *command.kvStore);
  const int64_t servers = asked.value_or(workers);
  if (servers < 1 || servers > workers * 16)
    return fail(ErrorCode::E0001, "--servers takes 1 to {} for {} workers, got {}", workers * 16,
                workers, servers);
  return int(servers);
}

} // namespace lstmc::cli
