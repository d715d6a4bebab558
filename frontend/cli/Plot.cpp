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
#include "viz/Schedule.h"

namespace lstmc::cli {

static std::string suffixOf(const std::string &path) {
  size_t dot = path.rfind('.');
  return dot == std::string::npos ? "" : path.substr(dot + 1);
}

static int writePicture(const std::string &picture, const Options &options, Console &console) {
  std::optional<std::string> output = options.value("output");
  if (!output || *output == "-") {
    console.write(picture);
    return 0;
  }
  if (options.has("dry-run"))
    return 0;
  if (Status status = writeFile(*output, picture, options.existing()); !status.ok())
    return console.fail(status.error());
  if (console.json())
    console.print(nlohmann::ordered_json{
        {"schema", "lstmc.plot/1"}, {"file", *output}, {"bytes", picture.size()}});
  else
    console.print(*output);
  return 0;
}

/// The words of a flag that is a list, all of `known`.
static Result<std::vector<std::string>> wordsOf(const Options &options, std::string_view flag,
                                                const std::vector<std::string_view> &known) {
  std::vector<std::string> words = splitCommas(options.text(flag));
  for (const std::string &word : words)
    if (std::find(known.begin(), known.end(), word) == known.end())
      return fail(ErrorCode::E0001, "--{} knows {}, got \"{}\"{}", flag, fmt::join(known, ", "),
                  word, didYouMean(word, known));
  return words;
}

static Result<viz::NetworkOptions> drawingAsked(const Options &options) {
  viz::NetworkOptions drawing;
  drawing.shapes = false;
  LSTMC_ASSIGN(std::vector<std::string> show,
               wordsOf(options, "show", {"shapes", "memory", "device", "time"}));
  for (const std::string &word : show) {
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
  LSTMC_ASSIGN(std::vector<std::string> unfold, wordsOf(options, "unfold", {"time", "layer"}));
  for (const std::string &word : unfold) {
    drawing.allSteps |= word == "time";
    drawing.allOps |= word == "layer";
  }
  return drawing;
}

static int plotNetwork(const Options &options, Console &console, const std::string &suffix) {
  Result<viz::NetworkOptions> drawing = drawingAsked(options);
  if (!drawing.ok())
    return console.fail(drawing.error());
  if (options.operands.size() != 1 || !isSource(options.operands[0]))
    return console.fail(fail(ErrorCode::E0001, "plot --what network takes one .lnet file; packages "
                                               "and checkpoints hold launches and no layers, "
                                               "and have --what schedule and memory"));
  Checked<lnet::LoadedNet> net = loadSource(options.operands[0], options);
  if (!net.ok())
    return console.fail(net.diagnostics());
  console.warn(net.diagnostics());
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::optional<std::string> pass = options.value("after");
  if (!pass && drawing->devices.size() > 1)
    pass = "place-devices"; // before it nothing is anywhere
  if (pass) {
    Checked<mlir::OwningOpRef<mlir::ModuleOp>> left = moduleAfter(*pass, *net, options);
    if (!left.ok())
      return console.fail(left.diagnostics());
    console.warn(left.diagnostics());
    module = std::move(*left);
    if (viz::isLowered(*module) && options.has("unfold"))
      return console.fail(fail(
          ErrorCode::E0001, "--unfold needs layers, and there are only launches after {}", *pass));
  } else {
    module = symbol::takeModule(*net->graph);
  }
  std::string dot = viz::networkDot(*module, *drawing);
  if (suffix == "dot" || suffix.empty())
    return writePicture(dot, options, console);
  Result<std::string> picture = viz::render(dot, suffix);
  return picture.ok() ? writePicture(*picture, options, console) : console.fail(picture.error());
}

/// As they are for the whole machine, or for --threads.
static Result<target::Machines> machinesAsked(const Options &options,
                                              const package::PackageData &data) {
  LSTMC_ASSIGN(int64_t threads, options.countInForce("threads"));
  return planning::machinesOf(data, int(std::min<int64_t>(threads, 1024)));
}

/// What was planned, and with --measured what happened.
static Result<std::vector<viz::Timeline>> timelines(const Model &model, const package::Entry &entry,
                                                    const Options &options) {
  const package::PackageData &data = model.package->data();
  LSTMC_ASSIGN(target::Machines machines, machinesAsked(options, data));
  std::vector<viz::Timeline> timelines = {
      {"planned; " + viz::ratesText(machines.front()), planning::forecast(data, entry, machines)}};
  if (options.has("measured")) {
    LSTMC_ASSIGN(planning::EntryTimes times, measuredTimes(model, options, entry));
    timelines.push_back({"measured", std::move(times)});
  }
  return timelines;
}

static int plotSchedule(const Model &model, const std::string &suffix, const Options &options,
                        Console &console) {
  const package::PackageData &data = model.package->data();
  const package::Entry *entry = viz::scheduledEntry(data);
  if (!entry)
    return console.fail(
        fail(ErrorCode::E0001, "{} has neither step nor forward, and so no schedule", model.path));
  Result<std::vector<viz::Timeline>> lines = timelines(model, *entry, options);
  if (!lines.ok())
    return console.fail(lines.error());
  if (suffix == "json")
    return writePicture(viz::scheduleTrace(data, *entry, *lines), options, console);
  Result<std::string> picture =
      viz::scheduleChart(data, *entry, *lines).as(suffix.empty() ? "svg" : suffix);
  return picture.ok() ? writePicture(*picture, options, console) : console.fail(picture.error());
}

static int plotMemory(const Model &model, const std::string &suffix, const Options &options,
                      Console &console) {
  const package::PackageData &data = model.package->data();
  Result<target::Machines> machines = machinesAsked(options, data);
  if (!machines.ok())
    return console.fail(machines.error());
  return writePicture(suffix == "json" ? viz::memoryTrace(data, *machines)
                                       : viz::memoryChart(data, *machines),
                      options, console);
}

int plotCommand(const Options &options, Console &console) {
  std::string what = options.text("what");
  std::string suffix = suffixOf(options.text("output"));
  if (suffix != "" && suffix != "dot" && suffix != "svg" && suffix != "png" && suffix != "pdf" &&
      !(suffix == "json" && what != "network"))
    return console.fail(fail(ErrorCode::E0001,
                             "plot writes .dot, .svg, .png and .pdf, and of schedules and memory "
                             ".json for a viewer of traces, got \".{}\"",
                             suffix));
  if (what != "schedule" && options.has("measured"))
    return console.fail(
        fail(ErrorCode::E0001, "--measured is for --what schedule, not for {}", what));
  if (what == "network")
    return plotNetwork(options, console, suffix);
  for (std::string_view flag : {"show", "unfold", "after"})
    if (options.has(flag))
      return console.fail(
          fail(ErrorCode::E0001, "--{} is for --what network, not for {}", flag, what));
  if (what == "memory" && suffix != "svg" && suffix != "json" && suffix != "")
    return console.fail(
        fail(ErrorCode::E0001,
             "a memory plan is drawn as .svg, or told as .json to a viewer of traces, got \".{}\"",
             suffix));
  if (suffix == "dot")
    return console.fail(fail(ErrorCode::E0001, "a schedule is bars over time and no graph: it is "
                                               "drawn as .svg, .png or .pdf, not as .dot"));
  Checked<Model> model = loadModel(options, {});
  if (!model.ok())
    return console.fail(model.diagnostics());
  console.warn(model->warnings);
  if (what == "memory")
    return plotMemory(*model, suffix, options, console);
  return plotSchedule(*model, suffix, options, console);
}

} // namespace lstmc::cli
