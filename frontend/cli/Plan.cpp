// plan: what will happen, how long it takes and whether it fits, before anything runs.

#include <algorithm>
#include <cstdlib>
#include <functional>

#include <fmt/ranges.h>

#include "backends/registry/Accelerators.h"
#include "backends/registry/HostFacts.h"
#include "executor/package/MessageMemory.h"
#include "executor/package/Plan.h"
#include "frontend/cli/Commands.h"
#include "frontend/cli/Emulated.h"
#include "frontend/cli/HostText.h"
#include "frontend/cli/ManyHosts.h"
#include "frontend/cli/Measured.h"
#include "frontend/cli/PlanText.h"
#include "frontend/driver/Layout.h"
#include "frontend/driver/RankMachines.h"
#include "frontend/driver/Ranks.h"
#include "frontend/driver/RealSteps.h"
#include "frontend/driver/Recompute.h"
#include "frontend/driver/Threads.h"
#include "passes/planning/Recompute.h"
#include "passes/planning/Remedies.h"
#include "passes/planning/rates/MachineRates.h"
#include "viz/Cost.h"
#include "viz/Schedule.h"

namespace lstmc::cli {

namespace {

using Json = nlohmann::ordered_json;

Result<Target> targetAsked(const Options &options) {
  Target target;
  if (options.cluster) {
    LSTMC_ASSIGN(target.cluster, planning::readCluster(*options.cluster));
  }
  target.mayUse = uint64_t(options.mem.value_or(0));
  target.threads = int(std::min<int64_t>(*options.threads, 1024));
  LSTMC_ASSIGN(target.job, joinJob());
  return target;
}

/// -d, else all devices of the cluster.
Options withDevices(const Options &options, const Target &target) {
  Options onDevices = options;
  if (target.cluster && !options.devices.given()) {
    std::vector<std::string> names;
    for (const DeviceName &device : target.cluster->devices)
      names.push_back(device.text());
    onDevices.devices = names;
  }
  return onDevices;
}

/// Devices of one place, a host or a GPU that they are parts of, have its memory together; what one
/// of them may use is what the others leave.
void shareMemory(Planned &planned, const std::vector<int> &places,
                 const std::vector<uint64_t> &memory) {
  const std::vector<package::Device> &devices = planned.data.devices;
  for (size_t device = 0; device < devices.size(); ++device) {
    uint64_t others = 0;
    for (size_t other = 0; other < devices.size(); ++other)
      if (other != device && places[other] == places[device])
        others += devices[other].arenaBytes;
    planned.capacities.push_back(memory[device] - std::min(memory[device], others));
  }
}

/// For each device the first one that is of the same machine's device: parts of a GPU are.
std::vector<int> wholesOf(const std::vector<package::Device> &devices) {
  std::vector<int> wholes;
  for (const package::Device &device : devices) {
    auto sameWhole = [&](const package::Device &other) {
      return wholeDevice(other.name) == wholeDevice(device.name);
    };
    wholes.push_back(int(std::ranges::find_if(devices, sameWhole) - devices.begin()));
  }
  return wholes;
}

/// Devices of this machine. An accelerator that is not here counts as one with the host's memory.
Status describeMemoryHere(Planned &planned) {
  std::vector<std::string_view> of; // the accelerator, or nothing: the host
  std::vector<int> places;          // the first device of each
  std::vector<uint64_t> memory;
  for (const package::Device &device : planned.data.devices) {
    LSTMC_ASSIGN(std::vector<DeviceName> name, parseDevices(device.name));
    const uint64_t own = acceleratorBytes(name[0]);
    memory.push_back(own > 0 ? own : hostFacts().memoryBytes);
    of.push_back(own > 0 ? wholeDevice(device.name) : std::string_view());
    places.push_back(int(std::ranges::find(of, of.back()) - of.begin()));
  }
  shareMemory(planned, places, memory);
  return {};
}

/// Ranks of a job, where they run.
Status describeRanks(Planned &planned, const Target &target) {
  LSTMC_TRY(agree(*target.job, "graph", planned.data.graphHash));
  LSTMC_ASSIGN(RankMachines here, rankMachines(planned.data, target.job.get(),
                                               threadsOf(planned.data, target.threads)));
  planned.machines = here.machines;
  planned.messageRates = here.messages;
  LSTMC_ASSIGN(std::vector<std::string> said,
               target.job->gather(std::to_string(hostFacts().memoryBytes)));
  std::vector<uint64_t> memory;
  for (int process : processesOf(planned, target))
    memory.push_back(std::strtoull(said[size_t(process)].c_str(), nullptr, 10));
  shareMemory(planned, here.hosts, memory);
  return {};
}

/// What each device may use, and how fast it is.
Status describeDevices(Planned &planned, const Target &target) {
  if (target.cluster) {
    std::vector<DeviceName> names;
    for (const package::Device &device : planned.data.devices) {
      LSTMC_ASSIGN(std::vector<DeviceName> name, parseDevices(device.name));
      names.push_back(name[0]);
    }
    LSTMC_ASSIGN(planning::Cluster part, planning::chosen(*target.cluster, names));
    planned.machines = part.machines;
    shareMemory(planned, wholesOf(planned.data.devices), part.memory);
  } else if (target.job) {
    LSTMC_TRY(describeRanks(planned, target));
  } else {
    planned.machines = planning::machinesOf(planned.data, threadsOf(planned.data, target.threads));
    LSTMC_TRY(describeMemoryHere(planned));
  }
  limitMemory(planned, target);
  return {};
}

Result<ModelRequest> requestFor(const Options &options, const Target &target) {
  ModelRequest request;
  if (target.cluster) {
    request.devicesMayBeAbsent = true;
    LSTMC_ASSIGN(std::vector<DeviceName> names, devicesAsked(options));
    LSTMC_ASSIGN(planning::Cluster part, planning::chosen(*target.cluster, names));
    request.machines = part.machines;
    request.deviceMemory = part.memory;
  }
  return request;
}

void forecast(Planned &planned, const Options &options, const Target &target) {
  planned.forecast = planning::forecastPackage(planned.data, planned.machines, target.realSteps);
  if (target.cluster)
    planned.forecast.rates = *options.cluster;
}

/// With --mem where that can be met, else without, so that what does not fit can be shown.
Checked<Planned> planFor(const Options &options, const Target &target) {
  Options onDevices = withDevices(options, target);
  LSTMC_CHECKED_ASSIGN(ModelRequest request, requestFor(onDevices, target));
  Checked<Model> model = loadModel(onDevices, request);
  if (!model.ok() && model.diagnostics().front().code == ErrorCode::E0401) {
    onDevices.mem.reset();
    if (!onDevices.streams.given())
      onDevices.streams = 1; // what does not fit is the plan with the least memory
    request.nextInputs = false;
    model = loadModel(onDevices, request);
  }
  if (!model.ok())
    return model.diagnostics();
  Planned planned;
  planned.data = model->package->data();
  if (model->compiled) {
    planned.shares = model->compiled->shares;
    planned.layouts = model->compiled->layouts;
  }
  planned.warnings = model->warnings;
  planned.recomputed = model->recomputed;
  LSTMC_CHECKED_TRY(describeDevices(planned, target));
  forecast(planned, options, target);
  return planned;
}

/// Of several devices: how much faster they are than the first alone. None where that cannot be
/// planned, or each process has some of them.
std::optional<double> speedup(const Planned &planned, const Options &options,
                              const Target &target) {
  if (planned.data.devices.size() < 2 || target.job || !isSource(options.operands[0]))
    return std::nullopt;
  const FlagValues defaults; // of all flags that share a net out
  Options alone = options;
  alone.devices = {planned.data.devices[0].name};
  alone.workLoadList = defaults.workLoadList;
  alone.place = defaults.place;
  alone.chunks = defaults.chunks;
  alone.kvStore = defaults.kvStore;
  alone.updateOnKvstore = defaults.updateOnKvstore;
  alone.bigarrayBound = defaults.bigarrayBound;
  alone.bucketBytes = defaults.bucketBytes;
  Checked<Planned> one = planFor(alone, target);
  if (!one.ok() || !(planned.forecast.seconds() > 0))
    return std::nullopt;
  return one->forecast.seconds() / planned.forecast.seconds();
}

/// Of the entry whose forecast stands first, on devices of this machine.
Checked<double> measuredSeconds(const Options &options) {
  LSTMC_CHECKED_ASSIGN(Model model, loadModel(options, {}));
  const package::Entry *entry = viz::scheduledEntry(model.package->data());
  if (!entry)
    return asDiagnostic(fail(ErrorCode::E0001,
                             "--measured runs step or forward, and {} has neither",
                             options.operands[0]));
  LSTMC_CHECKED_ASSIGN(planning::EntryTimes times, measuredTimes(model, options, *entry));
  return times.seconds;
}

/// --recompute with layers added to those that are given.
std::string recomputeList(const std::vector<std::string> &layers, const Options &options) {
  std::string given = *options.recompute == "none" ? "" : *options.recompute;
  return fmt::format("{}{}{}", given, given.empty() ? "" : ",", fmt::join(layers, ","));
}

/// The flags of a change, as they are written.
std::string flagsOf(const planning::Change &change, const Options &options) {
  switch (change.kind) {
  case planning::Change::Kind::Recompute:
    return "--recompute " + recomputeList(change.layers, options);
  case planning::Change::Kind::Accumulate:
    return fmt::format("--accumulate {}", change.count);
  case planning::Change::Kind::Replicas:
    return fmt::format("-d {}xcpu", change.count);
  case planning::Change::Kind::Split:
    return fmt::format("-d {}xcpu --place auto", change.count);
  case planning::Change::Kind::Batch:
    return fmt::format("-b {}", change.count);
  }
  return {};
}

Options changed(const Options &options, const planning::Change &change) {
  Options other = options;
  other.accumulate = *options.accumulate; // as if it had been given, so that --mem tries no others
  switch (change.kind) {
  case planning::Change::Kind::Recompute:
    other.recompute = recomputeList(change.layers, options);
    break;
  case planning::Change::Kind::Accumulate:
    other.accumulate = change.count;
    break;
  case planning::Change::Kind::Replicas:
  case planning::Change::Kind::Split:
    other.devices = {fmt::format("{}xcpu", change.count)};
    other.workLoadList = FlagValues().workLoadList;
    other.place = FlagValues().place;
    if (change.kind == planning::Change::Kind::Split)
      other.place = "auto";
    break;
  case planning::Change::Kind::Batch:
    other.batch = fmt::format("{}", change.count);
    break;
  }
  return other;
}

/// Each change is planned as if its flags had been given.
planning::Remedies remediesFor(const Planned &planned, const Options &options,
                               const Target &target) {
  planning::Misfit misfit{.seconds = planned.forecast.seconds(),
                          .devices = planned.data.devices.size()};
  Checked<symbol::Network> net = loadSource(options.operands[0], options);
  if (net.ok())
    misfit.layers = planning::layersToRecompute(planned.data, opsOf(*net->graph), planned.machines,
                                                planned.capacities);
  misfit.steps = planning::stepsToRecompute(planned.data);
  misfit.accumulate = *options.accumulate;
  if (target.cluster)
    misfit.mostDevices = target.cluster->devices.size();
  for (const package::Setting &setting : planned.data.settings)
    if (setting.name == "batch")
      if (Result<int64_t> batch = Count::parse(setting.name, setting.value); batch.ok())
        misfit.batch = *batch;
  return planning::remediesFor(
      misfit, [&](const planning::Change &change) -> std::optional<planning::Outcome> {
        Checked<Planned> other = planFor(changed(options, change), target);
        if (!other.ok())
          return std::nullopt;
        planning::Outcome outcome{
            {}, other->forecast.seconds(), planning::fits(other->data, other->capacities)};
        for (const package::Device &device : other->data.devices)
          outcome.peaks.push_back(device.arenaBytes);
        return outcome;
      });
}

Json placementOf(const Planned &planned, const Options &options) {
  Json list = Json::array();
  std::vector<std::string> seen;
  for (const package::Parameter &parameter : planned.data.parameters)
    if (!parameter.group.empty() &&
        std::find(seen.begin(), seen.end(), parameter.group) == seen.end()) {
      seen.push_back(parameter.group);
      const std::string &place = *options.place;
      bool everywhere = parameter.buffers.size() == planned.data.devices.size();
      list.push_back(
          {{"group", parameter.group},
           {"device", planned.data.devices[planned.data.buffers[parameter.buffers[0]].device].name},
           {"reason", place.starts_with("auto") ? "cost"
                      : !place.empty()          ? "--place"
                      : everywhere              ? "every device has all"
                                                : "place(..)"}});
    }
  return list;
}

void printTable(const std::vector<std::vector<std::string>> &rows, bool csv, Console &console) {
  for (size_t r = 0; r < rows.size(); ++r) {
    std::string line;
    for (const std::string &cell : rows[r])
      line += csv ? (line.empty() ? "" : ",") +
                        (cell.find(',') == std::string::npos ? cell : "\"" + cell + "\"")
                  : (line.empty() ? "| " : " | ") + cell;
    console.print(csv ? line : line + " |");
    if (r == 0 && !csv) {
      std::string rule = "|";
      for (size_t i = 0; i < rows[r].size(); ++i)
        rule += "---|";
      console.print(rule);
    }
  }
}

/// Why nothing helps: what is there at all times, and what came nearest.
std::string noRemedyText(const Planned &planned, const std::optional<planning::Remedy> &nearest,
                         const Options &options) {
  uint64_t always = 0;
  for (const package::DevicePlan &device : package::planOf(planned.data))
    always =
        std::max(always, device.weightBytes() + device.gradientBytes() + device.optimizerBytes());
  std::string text =
      fmt::format("no remedy: weights, gradients and optimizer alone need {}", bytesText(always));
  if (nearest)
    text += fmt::format("; nearest came {} with {}", flagsOf(nearest->change, options),
                        bytesText(planning::mostOf(nearest->peaks)));
  return text;
}

void printPlan(const Planned &planned, const planning::Remedies &all, const Options &options,
               const Target &target, Console &console) {
  const std::vector<std::string> hosts =
      target.cluster ? target.cluster->hosts : std::vector<std::string>();
  const std::vector<planning::Remedy> &remedies = all.found;
  const bool emulated = onEmulated(planned.data);
  if (console.json()) {
    Json document = planJson(planned.data, &planned.forecast, planned.capacities);
    if (!hosts.empty())
      document["forecast"]["hosts"] = hostsJson(planned.forecast.hosts, hosts);
    for (uint32_t device = 0; device < planned.data.devices.size(); ++device)
      if (const uint64_t messages = package::messageBytes(
              planned.data, device, {.processes = processesOf(planned, target)});
          messages > 0 || !hosts.empty())
        document["devices"][device]["messages_bytes"] = messages;
    document["remedies"] = Json::array();
    for (const planning::Remedy &remedy : remedies)
      document["remedies"].push_back({{"flags", flagsOf(remedy.change, options)},
                                      {"peak_bytes", remedy.peaks},
                                      {"time_fraction", remedy.timeFraction}});
    if (remedies.empty() && !target.job && !planning::fits(planned.data, planned.capacities))
      document["no_remedy"] = noRemedyText(planned, all.nearest, options);
    if (!planned.recomputed.empty())
      document["recomputed"] = planned.recomputed;
    if (planned.measured)
      document["measured_seconds"] = *planned.measured;
    document["placement"] = placementOf(planned, options);
    document["layouts"] = layoutsJson(planned.layouts);
    return console.print(document);
  }
  if (*options.format == Form::Csv || *options.format == Form::Markdown)
    return printTable(planRows(planned.data, planned.capacities), *options.format == Form::Csv,
                      console);
  if (!planned.shares.empty())
    console.print(sharesLine(planned.shares, *options.workLoadList));
  if (!planned.layouts.empty())
    console.print(layoutsText(planned.layouts));
  console.print(planTable(planned.data, planned.capacities));
  if (const std::string messages = messagesLine(planned.data, processesOf(planned, target));
      !messages.empty())
    console.print(messages +
                  (hosts.empty() && !target.job
                       ? " besides, by which the host copies from device to device"
                       : fmt::format(" besides, which {} keep for what they send one another",
                                     target.job ? "ranks" : "hosts")));
  if (remedies.empty() && !planned.forecast.replicas && !target.job &&
      !planning::fits(planned.data, planned.capacities))
    console.print(noRemedyText(planned, all.nearest, options));
  size_t widest = 0;
  for (const planning::Remedy &remedy : remedies)
    widest = std::max(widest, flagsOf(remedy.change, options).size());
  for (const planning::Remedy &remedy : remedies) {
    std::vector<std::string> peaks;
    for (uint64_t bytes : remedy.peaks)
      peaks.push_back(bytesText(bytes));
    console.print(
        fmt::format("{:<7} {:<{}}  {}  {} {}", &remedy == &remedies[0] ? "instead" : "",
                    flagsOf(remedy.change, options), widest, fmt::join(peaks, ", "),
                    planned.forecast.updateSeconds ? "update" : "forward",
                    emulated ? "-" : fmt::format("{:+.0f} %", 100 * remedy.timeFraction)));
  }
  if (!planned.recomputed.empty())
    console.print(planned.recomputed);
  if (std::string text = driverText(planned.data, planned.forecast.driver); !text.empty())
    console.print(text);
  if (!planned.forecast.ways.empty())
    console.print(waysText(planned.data, planned.forecast.ways));
  if (!hosts.empty())
    if (std::string table = hostsTable(planned.forecast.hosts, hosts); !table.empty())
      console.print(table);
  console.print(forecastLine(planned.data, planned.forecast));
  if (planned.measured)
    console.print(besideMeasured(planned.forecast.updateSeconds ? "update" : "forward",
                                 planned.forecast.seconds(), *planned.measured));
}

/// E0401 of a device that has too little.
Diagnostic tooLittle(const Planned &planned, size_t device) {
  const package::Device &asked = planned.data.devices[device];
  const uint64_t messages = planned.messages[device];
  std::string text = fmt::format("the plan needs {} on {}, which may use {}",
                                 bytesText(asked.arenaBytes + messages), asked.name,
                                 bytesText(planned.capacities[device] + messages));
  if (messages > 0)
    text += fmt::format("; {} of it are for messages", bytesText(messages));
  return asDiagnostic(fail(ErrorCode::E0401, "{}", text));
}

/// The same at the user's line where the compiler knows it: it has one limit for all devices.
Diagnostics tooLittleAtLine(const Planned &planned, size_t device, const Options &onDevices,
                            const ModelRequest &request) {
  Diagnostics found;
  if (isSource(onDevices.operands[0])) {
    Options limited = onDevices;
    limited.mem = int64_t(planned.capacities[device] + planned.messages[device]);
    found = loadModel(limited, request).diagnostics();
  }
  const std::string on = fmt::format(" on {}, ", planned.data.devices[device].name);
  std::erase_if(
      found, [&](const Diagnostic &error) { return error.message.find(on) == std::string::npos; });
  if (found.empty())
    found.push_back(tooLittle(planned, device));
  return found;
}

CommandResult refuse(const Planned &planned, const Options &options, const Target &target) {
  const bool many = areMany(target, options);
  const Options onDevices = withDevices(options, target);
  ModelRequest request;
  if (!many) {
    LSTMC_CHECKED_ASSIGN(request, requestFor(onDevices, target));
  }
  Diagnostics errors;
  for (size_t device = 0; device < planned.capacities.size(); ++device) {
    if (planned.data.devices[device].arenaBytes <= planned.capacities[device])
      continue;
    const Diagnostics found = many ? Diagnostics{tooLittle(planned, device)}
                                   : tooLittleAtLine(planned, device, onDevices, request);
    errors.insert(errors.end(), found.begin(), found.end());
  }
  return errors;
}

} // namespace

CommandResult planCommand(const Options &options, Console &console) {
  if (options.measured && options.cluster)
    return fail(ErrorCode::E0001, "--measured runs on devices of this machine, and --cluster plans "
                                  "for others: give one of them");
  LSTMC_CHECKED_ASSIGN(Target target, targetAsked(options));
  if (target.job && (options.measured || target.cluster))
    return fail(
        ErrorCode::E0001,
        "--{} is for a plan of one process: without launch, or train, which says what ranks "
        "take beside what was forecast",
        options.measured ? "measured" : "cluster");
  if (!target.cluster)
    measureIfNew(threadsInQuestion(options), console);
  const bool many = areMany(target, options);
  LSTMC_CHECKED_ASSIGN(Planned planned,
                       many ? planMany(target, options) : planFor(options, target));
  console.warn(planned.warnings);
  LSTMC_CHECKED_ASSIGN(target.realSteps,
                       realSteps(planned.data, options.operands[0], options, {.job = "plan"}));
  if (!many)
    forecast(planned, options, target);
  planned.forecast.speedup = speedup(planned, options, target);
  bool fit = planning::fits(planned.data, planned.capacities);
  planning::Remedies remedies;
  if (!fit && !many && !target.job && isSource(options.operands[0]))
    remedies = remediesFor(planned, options, target);
  if (fit && options.measured && !onEmulated(planned.data)) {
    LSTMC_CHECKED_ASSIGN(planned.measured, measuredSeconds(options));
  }
  printPlan(planned, remedies, options, target, console);
  if (!planned.messageRates.empty())
    console.say(planned.messageRates);
  if (fit)
    return ExitCode::Ok;
  return console.json() ? ExitCode::Plan : refuse(planned, options, target);
}

} // namespace lstmc::cli
