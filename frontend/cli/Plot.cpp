// plot: a network, a schedule or a memory plan as a picture.

#include <algorithm>

#include <fmt/ranges.h>

#include "backends/registry/Targets.h"
#include "executor/base/OutputFile.h"
#include "frontend/cli/Commands.h"
#include "frontend/cli/DeviceFlags.h"
#include "frontend/cli/Measured.h"
#include "frontend/cli/Model.h"
#include "frontend/symbol/Module.h"
#include "passes/planning/rates/MachineRates.h"
#include "viz/Dot.h"
#include "viz/MemoryChart.h"
#include "viz/Network.h"
#include "viz/PackageNetwork.h"
#include "viz/Schedule.h"

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

/// Words of a flag that is a list are all of `known`.
static Status checkWords(Flag flag, const std::vector<std::string> &words,
                         const std::vector<std::string_view> &known) {
  for (const std::string &word : words)
    if (std::find(known.begin(), known.end(), word) == known.end())
      return fail(ErrorCode::E0001, "--{} knows {}, got \"{}\"{}", recordOf(flag).name,
                  fmt::join(known, ", "), word, didYouMean(word, known));
  return {};
}

static Result<viz::NetworkOptions> drawingAsked(const Options &options) {
  LSTMC_TRY(checkWords(Flag::show, *options.show, {"shapes", "memory", "device", "time"}));
  LSTMC_TRY(checkWords(Flag::unfold, *options.unfold, {"time", "layer"}));
  viz::NetworkOptions drawing;
  drawing.shapes = false;
  for (const std::string &word : *options.show) {
    drawing.shapes |= word == "shapes";
    drawing.memory |= word == "memory";
    if (word == "device") {
      LSTMC_ASSIGN(std::vector<DeviceName> devices, devicesAsked(options));
      for (const DeviceName &device : devices)
        drawing.devices.push_back(device.text());
    }
    if (word == "time") {
      drawing.target = &targetOf(DeviceKind::Cpu);
      drawing.machine = planning::machinesOf({DeviceName{}}, 0).front();
    }
  }
  for (const std::string &word : *options.unfold) {
    drawing.allSteps |= word == "time";
    drawing.allOps |= word == "layer";
  }
  return drawing;
}

/// The network as the source has it, or as --after leaves it.
static Checked<mlir::OwningOpRef<mlir::ModuleOp>>
moduleToDraw(symbol::Network &net, const viz::NetworkOptions &drawing, const Options &options) {
  std::optional<std::string> pass = options.afterPass;
  if (!pass && drawing.devices.size() > 1)
    pass = "place-devices"; // before it nothing is anywhere
  if (!pass)
    return symbol::takeModule(*net.graph);
  Checked<mlir::OwningOpRef<mlir::ModuleOp>> left = moduleAfter(*pass, net, options);
  if (left.ok() && viz::isLowered(**left) && options.unfold.given())
    return asDiagnostic(fail(ErrorCode::E0001,
                             "--unfold needs layers, and there are only launches after {}", *pass));
  return left;
}

static CommandResult writeGraph(const std::string &dot, const std::string &suffix,
                                const Options &options, Console &console) {
  if (suffix == "dot" || suffix.empty())
    return writePicture(dot, options, console);
  LSTMC_CHECKED_ASSIGN(std::string picture, viz::render(dot, suffix));
  return writePicture(picture, options, console);
}

/// Of a package or a checkpoint.
static CommandResult plotPackage(const viz::NetworkOptions &drawing, const Options &options,
                                 Console &console, const std::string &suffix) {
  for (Flag flag : {Flag::unfold, Flag::afterPass})
    if (options.isGiven(flag))
      return fail(ErrorCode::E0001, "--{} needs the source: {} holds launches and no layers",
                  recordOf(flag).name, options.operands[0]);
  LSTMC_CHECKED_ASSIGN(Model model, loadModel(options, {}));
  return writeGraph(viz::packageDot(model.package->data(), drawing), suffix, options, console);
}

static CommandResult plotNetwork(const Options &options, Console &console,
                                 const std::string &suffix) {
  LSTMC_CHECKED_ASSIGN(viz::NetworkOptions drawing, drawingAsked(options));
  LSTMC_CHECKED_TRY(checkOneModel(options));
  if (!isSource(options.operands[0]))
    return plotPackage(drawing, options, console, suffix);
  Checked<symbol::Network> net = loadSource(options.operands[0], options);
  if (!net.ok())
    return net.diagnostics();
  console.warn(net.diagnostics());
  Checked<mlir::OwningOpRef<mlir::ModuleOp>> module = moduleToDraw(*net, drawing, options);
  if (!module.ok())
    return module.diagnostics();
  console.warn(module.diagnostics());
  return writeGraph(viz::networkDot(**module, drawing), suffix, options, console);
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
    timelines.push_back({"measured", std::move(times)});
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

/// Flags and file names that the picture asked for does not go with.
static Status checkPicture(const Options &options, const std::string &suffix) {
  Picture what = *options.what;
  if (suffix != "" && suffix != "dot" && suffix != "svg" && suffix != "png" && suffix != "pdf" &&
      !(suffix == "json" && what != Picture::Network))
    return fail(ErrorCode::E0001,
                "plot writes .dot, .svg, .png and .pdf, and of schedules and memory .json for a "
                "viewer of traces, got \".{}\"",
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
  if (*options.what == Picture::Network)
    return plotNetwork(options, console, suffix);
  LSTMC_CHECKED_ASSIGN(Model model, loadModel(options, {}));
  console.warn(model.warnings);
  return *options.what == Picture::Memory ? plotMemory(model, suffix, options, console)
                                          : plotSchedule(model, suffix, options, console);
}

} // namespace lstmc::cli
