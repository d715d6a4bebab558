// plot: a network, a schedule or a memory plan as a picture.

#include <cmath>

#include "executor/base/InputFile.h"
#include "executor/base/OutputFile.h"
#include "executor/training/Checkpoint.h"
#include "frontend/cli/Commands.h"
#include "frontend/cli/Emulated.h"
#include "frontend/cli/IdleFlags.h"
#include "frontend/cli/LossLog.h"
#include "frontend/cli/ManyHosts.h"
#include "frontend/cli/Measured.h"
#include "frontend/cli/Operand.h"
#include "frontend/cli/PlottedNetwork.h"
#include "passes/planning/rates/MachineRates.h"
#include "viz/Cost.h"
#include "viz/Dot.h"
#include "viz/MemoryChart.h"
#include "viz/Page.h"
#include "viz/ScalingChart.h"

namespace lstmc::cli {

static std::string suffixOf(const std::string &path) {
  size_t dot = path.rfind('.');
  return dot == std::string::npos ? "" : path.substr(dot + 1);
}

static CommandResult writePicture(const std::string &picture, const Options &options,
                                  Console &console) {
  if (!options.output || *options.output == "-") {
    console.write(picture);
    return ExitCode::Ok;
  }
  if (options.dryRun)
    return ExitCode::Ok;
  LSTMC_CHECKED_TRY(writeFile(*options.output, picture, options.existing()));
  if (console.json())
    console.print(nlohmann::ordered_json{
        {"schema", "lstmc.plot/1"}, {"file", *options.output}, {"bytes", picture.size()}});
  else
    console.print(*options.output);
  return ExitCode::Ok;
}

static CommandResult writeGraph(const std::string &dot, const std::string &suffix,
                                const Options &options, Console &console) {
  if (suffix == "dot" || suffix.empty())
    return writePicture(dot, options, console);
  LSTMC_CHECKED_ASSIGN(std::string picture, viz::render(dot, suffix));
  return writePicture(picture, options, console);
}

static CommandResult plotNetwork(const Options &options, Console &console,
                                 const std::string &suffix) {
  LSTMC_CHECKED_ASSIGN(PlottedNetwork network, networkAsked(options, console));
  if (isSource(options.operands[0]) && !options.afterPass && network.diagram.devices.size() < 2)
    LSTMC_CHECKED_TRY(warned(idleInDrawing(options), options, console));
  return writeGraph(options.afterPass ? network.dotAfterPass : viz::diagramDot(network.diagram),
                    suffix, options, console);
}

/// As they are for the whole machine, or for --threads.
static target::Machines machinesAsked(const Options &options, const package::PackageData &data) {
  return planning::machinesOf(data, int(std::min<int64_t>(*options.threads, 1024)));
}

/// What was planned, and with --measured what happened.
static Result<std::vector<viz::Timeline>> timelines(const Model &model, const package::Entry &entry,
                                                    const Options &options) {
  const package::PackageData &data = model.package->data();
  target::Machines machines = machinesAsked(options, data);
  std::vector<viz::Timeline> timelines = {
      {"planned; " + viz::ratesText(machines.front()), planning::forecast(data, entry, machines)}};
  if (options.measured) {
    LSTMC_ASSIGN(planning::EntryTimes times, measuredTimes(model, options, entry));
    timelines.push_back(
        {onEmulated(data) ? "measured on an emulated GPU, of which times say nothing" : "measured",
         std::move(times)});
  }
  return timelines;
}

static CommandResult plotSchedule(const Model &model, const std::string &suffix,
                                  const Options &options, Console &console) {
  const package::PackageData &data = model.package->data();
  const package::Entry *entry = viz::scheduledEntry(data);
  if (!entry)
    return fail(ErrorCode::E0001, "{} has neither step nor forward, and so no schedule",
                model.path);
  LSTMC_CHECKED_ASSIGN(std::vector<viz::Timeline> lines, timelines(model, *entry, options));
  if (suffix == "json")
    return writePicture(viz::scheduleTrace(data, *entry, lines), options, console);
  LSTMC_CHECKED_ASSIGN(std::string picture,
                       viz::scheduleChart(data, *entry, lines).as(suffix.empty() ? "svg" : suffix));
  return writePicture(picture, options, console);
}

static CommandResult plotMemory(const Model &model, const std::string &suffix,
                                const Options &options, Console &console) {
  const package::PackageData &data = model.package->data();
  target::Machines machines = machinesAsked(options, data);
  return writePicture(suffix == "json" ? viz::memoryTrace(data, machines)
                                       : viz::memoryChart(data, machines),
                      options, console);
}

/// Those of --losses, else the validations of the checkpoints that are kept, oldest first.
static Result<viz::Losses> lossesAsked(const Options &options) {
  if (options.losses)
    return readLosses(*options.losses);
  viz::Losses losses;
  for (const auto &[update, name] : training::listCheckpoints(options.operands[0])) {
    std::string file = fmt::format("{}/{}/{}", options.operands[0], name, training::kManifest);
    LSTMC_ASSIGN(Bytes bytes, readFile(file));
    LSTMC_ASSIGN(training::CheckpointState state,
                 training::CheckpointState::parse(
                     {reinterpret_cast<const char *>(bytes.data()), bytes.size()}, file));
    if (state.validLoss && std::isfinite(*state.validLoss))
      losses.validation.insert(losses.validation.begin(), {double(update), *state.validLoss});
  }
  return losses;
}

static CommandResult plotPage(const Options &options, Console &console) {
  LSTMC_CHECKED_ASSIGN(PlottedNetwork network, networkAsked(options, console));
  LSTMC_CHECKED_ASSIGN(viz::Losses losses, lossesAsked(options));
  LSTMC_CHECKED_ASSIGN(Model model, loadModel(options, {}));
  console.warn(model.warnings);
  const package::PackageData &data = model.package->data();
  const package::Entry *entry = viz::scheduledEntry(data);
  std::vector<viz::Timeline> lines;
  if (entry) {
    LSTMC_CHECKED_ASSIGN(lines, timelines(model, *entry, options));
  }
  LSTMC_CHECKED_ASSIGN(std::string page, viz::page(network.diagram, data,
                                                   machinesAsked(options, data), lines, losses));
  return writePicture(page, options, console);
}

static std::string nameOf(const planning::ScalingCurve &curve, const planning::Scaling &scaling) {
  if (curve.stages == 1)
    return "data parallelism";
  return fmt::format("{}, {} stages", 2 * curve.stages > scaling.layers ? "layer split" : "hybrid",
                     curve.stages);
}

static std::string standIns(const planning::ScalingPoint &point) {
  return point.compiled == point.replicas
             ? ""
             : fmt::format(", by {} of {} replicas", point.compiled, point.replicas);
}

static CommandResult plotScaling(const Options &options, const std::string &suffix,
                                 Console &console) {
  LSTMC_CHECKED_ASSIGN(planning::Scaling scaling, scalingAsked(options));
  std::vector<viz::ScalingLine> lines;
  for (const planning::ScalingCurve &curve : scaling.curves) {
    viz::ScalingLine &line = lines.emplace_back(viz::ScalingLine{nameOf(curve, scaling), {}});
    for (const planning::ScalingPoint &point : curve.points)
      line.marks.push_back(
          {double(point.hosts), point.efficiency,
           fmt::format("update {}{}{}, bound by {}", viz::durationText(point.seconds),
                       standIns(point), point.held ? ", taken from fewer hosts" : "",
                       planning::wordOf(point.bound)),
           !standIns(point).empty()});
  }
  const std::string title = fmt::format("{} on hosts like those of {}: efficiency, {} rows a host",
                                        options.operands[0], *options.cluster, scaling.rows),
                    note = fmt::format("100 %: as many rows in a second as the hosts would do "
                                       "without one another; one by itself takes {} an update\n"
                                       "hollow: a few replicas stand for all; where arrays are cut "
                                       "the update may take up to 15 % longer",
                                       viz::durationText(scaling.seconds));
  return writePicture(suffix == "html" ? viz::scalingPage(lines, title, note)
                                       : viz::scalingChart(lines, title, note),
                      options, console);
}

/// Flags and file names that the picture asked for does not go with.
static Status checkPicture(const Options &options, const std::string &suffix) {
  Picture what = *options.what;
  if (options.losses && suffix != "html") {
    if (suffix != "" && suffix != "svg")
      return fail(ErrorCode::E0001,
                  "losses are drawn as .svg, or with a MODEL on its page, .html, got \".{}\"",
                  suffix);
    if (!options.operands.empty() || options.isGiven(Flag::what))
      return fail(ErrorCode::E0001,
                  "--losses alone is the curve: no MODEL and no --what, or -o F.html");
  }
  if (options.cluster && what != Picture::Scaling)
    return fail(ErrorCode::E0001, "--cluster is for --what scaling, not for {}", wordOf(what));
  if (what == Picture::Scaling) {
    for (Flag flag : {Flag::show, Flag::unfold, Flag::afterPass, Flag::measured, Flag::losses})
      if (options.isGiven(flag))
        return fail(ErrorCode::E0001, "--{} is not for --what scaling", recordOf(flag).name);
    if (suffix != "" && suffix != "svg" && suffix != "html")
      return fail(ErrorCode::E0001, "scaling is drawn as .svg or .html, got \".{}\"", suffix);
    return {};
  }
  if (suffix == "html") {
    for (Flag flag : {Flag::what, Flag::afterPass})
      if (options.isGiven(flag))
        return fail(ErrorCode::E0001,
                    "a page has every picture, of the network as it is written: "
                    "--{} is not for it",
                    recordOf(flag).name);
    return {};
  }
  if (suffix != "" && suffix != "dot" && suffix != "svg" && suffix != "png" && suffix != "pdf" &&
      !(suffix == "json" && what != Picture::Network))
    return fail(ErrorCode::E0001,
                "plot writes .dot, .svg, .png and .pdf, .html with all pictures, and of schedules "
                "and memory .json for a viewer of traces, got \".{}\"",
                suffix);
  if (what != Picture::Schedule && options.measured)
    return fail(ErrorCode::E0001, "--measured is for --what schedule, not for {}", wordOf(what));
  if (what == Picture::Network)
    return {};
  for (Flag flag : {Flag::show, Flag::unfold, Flag::afterPass})
    if (options.isGiven(flag))
      return fail(ErrorCode::E0001, "--{} is for --what network, not for {}", recordOf(flag).name,
                  wordOf(what));
  if (what == Picture::Memory && suffix != "svg" && suffix != "json" && suffix != "")
    return fail(ErrorCode::E0001,
                "a memory plan is drawn as .svg, or told as .json to a viewer of traces, got "
                "\".{}\"",
                suffix);
  if (suffix == "dot")
    return fail(ErrorCode::E0001, "a schedule is bars over time and no graph: it is drawn as "
                                  ".svg, .png or .pdf, not as .dot");
  return {};
}

CommandResult plotCommand(const Options &options, Console &console) {
  std::string suffix = suffixOf(options.output.value_or(""));
  LSTMC_CHECKED_TRY(checkPicture(options, suffix));
  if (*options.what == Picture::Scaling)
    return plotScaling(options, suffix, console);
  if (suffix == "html")
    return plotPage(options, console);
  if (options.losses) {
    LSTMC_CHECKED_ASSIGN(viz::Losses losses, readLosses(*options.losses));
    return writePicture(viz::lossChart(losses), options, console);
  }
  if (*options.what == Picture::Network)
    return plotNetwork(options, console, suffix);
  LSTMC_CHECKED_ASSIGN(Model model, loadModel(options, {}));
  console.warn(model.warnings);
  return *options.what == Picture::Memory ? plotMemory(model, suffix, options, console)
                                          : plotSchedule(model, suffix, options, console);
}

} // namespace lstmc::cli
