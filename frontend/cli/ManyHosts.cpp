#include "frontend/cli/ManyHosts.h"

#include <algorithm>

#include "frontend/cli/CommandResult.h"
#include "passes/planning/Estimates.h"

namespace lstmc::cli {

/// Devices whose layouts are searched; above, all replicas have equally many stages.
static constexpr int64_t kMostSearched = 16;

Checked<Model> compilePattern(const planning::Pattern &pattern, const Options &options) {
  Options own = options;
  std::vector<std::string> names;
  for (const DeviceName &device : pattern.cluster.devices)
    names.push_back(device.text());
  own.devices = names;
  own.batch = fmt::format("{}", pattern.rows);
  own.shards = pattern.shards;
  own.place = pattern.stages > 1 ? fmt::format("auto={}", pattern.stages) : "";
  own.chunks = pattern.chunks;
  own.kvStore = "device";
  own.updateOnKvstore = UpdatePlace::Store;
  ModelRequest request;
  request.devicesMayBeAbsent = true;
  request.machines = pattern.cluster.machines;
  request.deviceMemory = pattern.cluster.memory;
  return loadModel(own, request);
}

bool areMany(const Target &target, const Options &options) {
  return target.cluster && !target.cluster->hosts.empty() && !options.devices.given() &&
         int64_t(target.cluster->devices.size()) > kMostSearched && isSource(options.operands[0]);
}

/// What those that are compiled have of the rows or shards of all.
static Result<int64_t> ofCompiled(int64_t all, const planning::Replicas &replicas,
                                  std::string_view what, std::string_view flag) {
  const int64_t count = replicas.count;
  if (count == replicas.compiled)
    return all;
  if (all % count != 0)
    return fail(ErrorCode::E0001,
                "{} replicas on these hosts share out {} {} unevenly: {} {} would do", count, all,
                what, flag, (all / count + 1) * count);
  return replicas.compiled * (all / count);
}

static Result<int64_t> rowsOf(const symbol::Network &net) {
  for (const symbol::SettingInForce &setting : net.settings)
    if (setting.name == "batch")
      if (const auto *rows = std::get_if<int64_t>(&setting.value))
        return *rows;
  return fail(ErrorCode::E0001, "hosts share out the rows of a batch, and the net has no "
                                "dim(\"batch\")");
}

/// --place: none is 1, auto=N is N.
static Result<int64_t> stagesAsked(const Options &options) {
  const std::string &place = *options.place;
  if (place.empty() || place == "auto")
    return int64_t(1);
  if (!place.starts_with("auto="))
    return fail(ErrorCode::E0001,
                "many hosts are planned for with --place auto or auto=STAGES, "
                "got \"{}\"",
                place);
  return Count::parse(recordOf(Flag::place).name, place.substr(5));
}

namespace {

/// Plans with so many stages.
struct ManyPlanner {
  const Target &target;
  const Options &options;
  int64_t rows, perHost;

  Checked<Planned> plan(int64_t stages) const {
    const auto hosts = int64_t(target.cluster->hosts.size());
    LSTMC_CHECKED_ASSIGN(planning::Replicas replicas, planning::replicasOn(hosts, perHost, stages));
    LSTMC_CHECKED_ASSIGN(int64_t own, ofCompiled(rows, replicas, "rows", "-b"));
    LSTMC_CHECKED_ASSIGN(int64_t shards,
                         ofCompiled(*options.shards, replicas, "shards", "--shards"));
    const planning::Cluster cluster = planning::patternOf(*target.cluster, perHost, replicas);
    LSTMC_CHECKED_ASSIGN(Model model,
                         compilePattern({cluster, own, shards, stages, *options.chunks}, options));
    Planned planned;
    planned.data = model.package->data();
    planned.warnings = model.warnings;
    planned.recomputed = model.recomputed;
    planned.machines = cluster.machines;
    planned.capacities = cluster.memory;
    limitMemory(planned, target);
    planned.forecast =
        planning::forecastMany(planned.data, planned.machines, replicas, *options.bigarrayBound);
    planned.forecast.rates = *options.cluster;
    return planned;
  }
};

} // namespace

Checked<Planned> planMany(const Target &target, const Options &options) {
  LSTMC_CHECKED_ASSIGN(symbol::Network net, loadSource(options.operands[0], options));
  LSTMC_CHECKED_ASSIGN(int64_t rows, rowsOf(net));
  LSTMC_CHECKED_ASSIGN(int64_t stages, stagesAsked(options));
  LSTMC_CHECKED_ASSIGN(int64_t perHost, planning::devicesPerHost(*target.cluster));
  const ManyPlanner planner{target, options, rows, perHost};
  Checked<Planned> best = planner.plan(stages);
  if (*options.place != "auto" || !best.ok())
    return best;
  const auto layers = int64_t(planning::NetOnOneDevice(best->data).layers().size());
  for (stages = 2; stages <= std::min<int64_t>(layers, 8); stages *= 2) {
    Checked<Planned> other = planner.plan(stages);
    auto key = [](const Planned &planned) {
      return std::pair(!planning::fits(planned.data, planned.capacities),
                       planned.forecast.seconds());
    };
    if (other.ok() && key(*other) < key(*best))
      best = std::move(other);
  }
  return best;
}

Checked<planning::Scaling> scalingAsked(const Options &options) {
  if (!options.cluster)
    return asDiagnostic(
        fail(ErrorCode::E0001, "--what scaling is of hosts: --cluster FILE.toml describes one"));
  LSTMC_CHECKED_ASSIGN(planning::Cluster cluster, planning::readCluster(*options.cluster));
  LSTMC_CHECKED_ASSIGN(int64_t perHost, planning::devicesPerHost(cluster));
  LSTMC_CHECKED_ASSIGN(symbol::Network net, loadSource(options.operands[0], options));
  LSTMC_CHECKED_ASSIGN(int64_t rows, rowsOf(net));
  if (rows % perHost != 0)
    return asDiagnostic(fail(ErrorCode::E0001,
                             "a host has {} rows for its {} devices: want a multiple, by -b", rows,
                             perHost));
  return planning::scaling(cluster, perHost, rows, {2, 4, 8, 16, 32, 64, 128, 256, 512},
                           *options.bigarrayBound,
                           [&](const planning::Pattern &pattern) -> Checked<package::PackageData> {
                             LSTMC_CHECKED_ASSIGN(Model model, compilePattern(pattern, options));
                             return model.package->data();
                           });
}

} // namespace lstmc::cli
