// A model with devices, memory and weights.
#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <malloc.h>
#include <unistd.h>

#include "backends/registry/Devices.h"
#include "executor/base/LibraryPages.h"
#include "executor/base/OutputFile.h"
#include "executor/base/Quote.h"
#include "executor/base/StandardStreams.h"
#include "executor/package/Plan.h"
#include "executor/session/Values.h"
#include "executor/training/Interrupts.h"
#include "executor/training/Signals.h"
#include "frontend/driver/Layout.h"
#include "frontend/driver/Model.h"
#include "frontend/driver/RankDevices.h"
#include "frontend/driver/Ranks.h"
#include "frontend/driver/Threads.h"
#include "passes/CompileChecks.h"

namespace lstmc::driver {

namespace fs = std::filesystem;

/// F.safetensors beside a package F.lstmc; empty where there is none.
static std::string weightsBeside(const Model &model) {
  std::error_code error;
  std::string beside = fs::path(model.path).replace_extension(".safetensors").string();
  return model.path.ends_with(".lstmc") && fs::exists(beside, error) ? beside : "";
}

bool hasWeights(const Model &model, const RunRequest &options) {
  return model.package->data().parameters.empty() || options.params || model.checkpoint ||
         !weightsBeside(model).empty();
}

/// --params, else a checkpoint's own, else F.safetensors beside F.lstmc, else what initialise()
/// gave.
static Status bindWeights(Session &session, const Model &model, const RunRequest &options) {
  std::error_code error;
  LSTMC_ASSIGN(lstmc::Limits limits, fileLimits(options));
  const std::optional<std::string> &params = options.params;
  if (params && fs::is_directory(*params, error)) {
    LSTMC_ASSIGN(training::FoundCheckpoint found, training::findCheckpoint(*params, limits));
    return session::bindWeights(session, found.checkpoint.model);
  }
  if (params)
    return session::bindWeights(session, *params, limits);
  if (model.checkpoint)
    return session::bindWeights(session, model.checkpoint->model);
  if (std::string beside = weightsBeside(model); !beside.empty())
    return session::bindWeights(session, beside, limits);
  return checkInitialisers(model.unknownInitialisers);
}

Status checkInitialisers(const std::vector<symbol::UnknownInitialiser> &unknown) {
  if (unknown.empty())
    return {};
  const symbol::UnknownInitialiser &first = unknown.front();
  return failAt({first.origin.file, first.origin.line, first.origin.column}, ErrorCode::E0613,
                "parameter {} begins with {}, which lstmc does not know: --params brings weights, "
                "fit(initializer=..) of a .lnet another beginning",
                inQuotes(first.parameter), inQuotes(first.text));
}

Result<uint64_t> seedInForce(const Model &model, const RunRequest &options) {
  std::optional<std::string> ofFile = findSetting(model.fit, "seed");
  if (options.seed.given() || !ofFile)
    return uint64_t(*options.seed);
  LSTMC_ASSIGN(int64_t seed, Count::parse("seed", *ofFile));
  return uint64_t(seed);
}

/// A launch that does not end is told of on stderr; where it cannot be ended either, the process
/// is.
static LaunchWatch watchLaunches(bool quiet) {
  LaunchWatch watch;
  if (const char *given = std::getenv("LSTMC_LAUNCH_DEADLINE"))
    if (const double seconds = std::strtod(given, nullptr); seconds > 0 && seconds < 1e6) {
      watch.ended = LaunchWatch::Time(std::max<int64_t>(1, int64_t(seconds * 1000)));
      watch.named = std::min(watch.named, watch.ended / 6);
      watch.tick = std::min(watch.tick, std::max(watch.ended / 24, LaunchWatch::Time(1)));
    }
  if (!quiet)
    watch.notice = [](const Error &error) { writeMessage("warning: " + error.text() + "\n"); };
  if (!quiet)
    watch.choice = [](const std::string &choice) { writeMessage(choice + "\n"); };
  watch.interrupted = [] { return training::SignalWatch::pending() != 0; };
  watch.abandon = [](const Error &error) {
    if (training::Interrupts::pending())
      return; // the launch is waited for
    removeTemporaryFiles();
    writeMessage(error.text() + "\n");
    int signal = training::SignalWatch::exitCode();
    ::_exit(signal != 0 ? signal : int(errorRecord(error.code).exit));
  };
  return watch;
}

/// Every rank has made its own package: what it was made from is compared before the whole, so that
/// the message says what differs.
static Status agreeOn(Peers &peers, const Model &model, uint64_t seed) {
  const package::PackageData &data = model.package->data();
  std::string settings;
  for (const package::Setting &setting : data.settings)
    settings += fmt::format("{}={} ", setting.name, setting.value);
  LSTMC_TRY(agree(peers, "graph", data.graphHash));
  LSTMC_TRY(agree(peers, "settings", settings));
  LSTMC_TRY(agree(peers, "seed", std::to_string(seed)));
  return agree(peers, "package (its devices, shapes or choices)", model.package->digest());
}

/// But for entries and other processes.
static SessionOptions sessionOptionsOf(const RunRequest &options, uint64_t seed) {
  SessionOptions session;
  session.seed = seed;
  session.checkNan = options.checkNan;
  session.watch = watchLaunches(options.quiet);
  return session;
}

Result<std::unique_ptr<Session>> openBeside(Session &owner, const Model &model,
                                            const RunRequest &options) {
  LSTMC_ASSIGN(uint64_t seed, seedInForce(model, options));
  return Session::beside(owner, model.package, sessionOptionsOf(options, seed));
}

/// Gives back what the compiler, and layouts that were only weighed, took of the heap and of the
/// code of libraries: several times what is left of it. Called before arenas are touched.
static void leaveCompiler() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
  releaseLibraryPages();
}

/// A session is told of bytes alone: at the line of the largest buffer at the peak, with what it is
/// and what finds a way to take less.
static Error tooLittleMemory(Error error, const package::PackageData &data) {
  for (const package::DevicePlan &plan : package::planOf(data, /*largest=*/1)) {
    if (error.message.find(fmt::format(" on {},", plan.device)) == std::string::npos)
      continue;
    Diagnostic largest;
    passes::addLargest(largest, data, plan);
    if (largest.reasons.empty())
      continue;
    error.place = {largest.place.file, largest.place.line, largest.place.column};
    error.message +=
        fmt::format("; {}; lstmc plan --mem says what takes less", largest.reasons.front().text);
    break;
  }
  return error;
}

Result<std::unique_ptr<Session>> openSession(const Model &model, const RunRequest &options,
                                             const std::vector<std::string> &entries, Engine engine,
                                             std::vector<package::Package::Pointer> neighbours) {
  int64_t threads = *options.threads;
  if (threads > 1024)
    return fail(ErrorCode::E0001, "--threads takes 1 to 1024, got {}", threads);
  LSTMC_ASSIGN(uint64_t seed, seedInForce(model, options));
  LSTMC_ASSIGN(std::vector<DeviceName> names,
               options.devices.given() && !model.compiled
                   ? devicesAsked(options)
                   : parseDevices(package::deviceList(model.package->data())));
  LSTMC_ASSIGN(std::shared_ptr<Peers> peers, joinJob());
  if (peers)
    LSTMC_TRY(agreeOn(*peers, model, seed));
  const std::shared_ptr<Peers> sharers = jobServers() > 0 ? nullptr : peers; // of the package
  LSTMC_ASSIGN(
      auto devices,
      makeDevicesOfRank(names, options,
                        {.threads = threadsOf(model.package->data(), threads), .engine = engine},
                        peers.get(), sharers.get()));
  SessionOptions sessionOptions = sessionOptionsOf(options, seed);
  sessionOptions.neighbours = std::move(neighbours);
  for (const std::string &entry : entries)
    if (model.package->findEntry(entry))
      sessionOptions.entries.push_back(entry);
  sessionOptions.peers = sharers;
  if (sharers && isRank()) {
    sessionOptions.deadline = patienceWithRanks();
    sessionOptions.watch.ended = stuckTimeout();
    sessionOptions.watch.named = std::min(sessionOptions.watch.named, stuckTimeout());
  }
  sessionOptions.oneThread = engine == Engine::Naive;
  leaveCompiler();
  auto created = Session::create(model.package, std::move(devices), sessionOptions);
  if (!created.ok() && created.error().code == ErrorCode::E0401)
    return tooLittleMemory(created.error(), model.package->data());
  LSTMC_ASSIGN(std::unique_ptr<Session> session, std::move(created));
  LSTMC_TRY(session->initialise(seed));
  LSTMC_TRY(bindWeights(*session, model, options));
  if (sharers)
    LSTMC_TRY(
        agree(*peers, "hash of the weights given", fmt::format("{:016x}", session->givenHash())));
  releaseLibraryPages(); // devices have made machine code of the programs
  return session;
}

} // namespace lstmc::driver
