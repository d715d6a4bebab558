// inspect: what is in any file that some loader reads.

#include <filesystem>

#include "executor/package/MessageMemory.h"
#include "executor/package/Plan.h"
#include "frontend/cli/Commands.h"
#include "frontend/cli/InspectData.h"
#include "frontend/cli/Operand.h"
#include "frontend/cli/PlanText.h"
#include "frontend/cli/RolledText.h"
#include "frontend/driver/BuildId.h"
#include "frontend/lnet/Emit.h"
#include "frontend/symbol/Module.h"
#include "viz/Network.h"

namespace lstmc::cli {

namespace {

using Json = nlohmann::ordered_json;

bool isModel(const std::string &path) {
  std::error_code error;
  return isSource(path) || path.ends_with(".lstmc") || std::filesystem::is_directory(path, error);
}

/// Of a checkpoint's tensor, as its manifest has it; null where there are no weights.
Json hashOf(const Model &model, const std::string &parameter) {
  if (model.checkpoint)
    for (const training::TensorHash &tensor : model.checkpoint->state.tensors)
      if (tensor.file == training::kModelFile && tensor.name == parameter)
        return fmt::format("{:016x}", tensor.hash);
  return Json();
}

/// Ops that merge-equal-ops took out, of all entries; null where nothing was compiled.
Json mergedOps(const Model &model) {
  if (model.compiled)
    for (const passes::PassTime &time : model.compiled->times)
      if (time.pass == "merge-equal-ops")
        return time.opsBefore - time.opsAfter;
  return Json();
}

/// Recurrent layers that the source has step by step: of how many cells, and of how many steps the
/// one op in their place is, or why there is none.
Json rolledJson(const Model &model) {
  Json layers = Json::array();
  if (model.compiled)
    for (const passes::RolledLayer &layer : model.compiled->rolled)
      layers.push_back({{"name", layer.name},
                        {"mode", layer.mode},
                        {"cells", layer.cells},
                        {"steps", layer.reason.empty() ? layer.cells : 0},
                        {"reason", layer.reason.empty() ? Json() : Json(layer.reason)},
                        {"rounding", layer.rounding.empty() ? Json() : Json(layer.rounding)}});
  return layers;
}

Json bindingsJson(const package::PackageData &data, const std::vector<package::Binding> &bindings) {
  Json list = Json::array();
  for (const package::Binding &binding : bindings) {
    const package::Buffer &buffer = data.buffers[binding.buffer];
    list.push_back({{"name", binding.name},
                    {"role", binding.role},
                    {"dtype", dtypeName(buffer.dtype)},
                    {"shape", buffer.shape},
                    {"dims", binding.dims}});
  }
  return list;
}

Json entriesJson(const package::PackageData &data) {
  Json entries = Json::array();
  for (const package::Entry &entry : data.entries)
    entries.push_back({{"name", entry.name},
                       {"launches", entry.programs.empty() ? 0 : entry.programs[0].launches.size()},
                       {"inputs", bindingsJson(data, entry.inputs)},
                       {"outputs", bindingsJson(data, entry.outputs)}});
  return entries;
}

Json parametersJson(const Model &model) {
  const package::PackageData &data = model.package->data();
  Json parameters = Json::array();
  for (const package::Parameter &parameter : data.parameters) {
    const package::Buffer &buffer = data.buffers[parameter.buffers[0]];
    parameters.push_back({{"name", parameter.name},
                          {"role", parameter.auxiliary ? "auxiliary" : "parameter"},
                          {"dtype", dtypeName(buffer.dtype)},
                          {"shape", buffer.shape},
                          {"bytes", buffer.bytes},
                          {"init", parameter.init},
                          {"lr_mult", parameter.lrMult},
                          {"wd_mult", parameter.wdMult},
                          {"group", parameter.group},
                          {"hash", hashOf(model, parameter.name)}});
  }
  return parameters;
}

Json passesJson(const Model &model) {
  Json passes = Json::array();
  if (model.compiled)
    for (const passes::PassTime &time : model.compiled->times)
      passes.push_back({{"name", time.pass},
                        {"time_s", time.seconds},
                        {"ops_before", time.opsBefore},
                        {"ops_after", time.opsAfter}});
  return passes;
}

/// Names, shapes and where they came from: of a package, whatever it was made of.
Json packageJson(const Model &model, uint64_t bytes) {
  const package::PackageData &data = model.package->data();
  Json entries = entriesJson(data), states = Json::array(), settings = Json::object();
  for (const package::State &state : data.states)
    states.push_back({{"name", state.name}, {"shape", data.buffers[state.buffers[0]].shape}});
  for (const package::Setting &setting : data.settings)
    settings[setting.name] = setting.value;
  return {{"schema", "lstmc.inspect/1"},
          {"file", model.path},
          {"kind", model.compiled     ? "lnet"
                   : model.checkpoint ? "checkpoint"
                                      : "package"},
          {"bytes", bytes},
          {"sha256", model.package->digest()},
          {"format_version", data.abi},
          {"nets", Json::array({data.net})},
          {"inputs", entries.empty() ? Json::array() : entries.back()["inputs"]},
          {"outputs", entries.empty() ? Json::array() : entries.front()["outputs"]},
          {"entries", entries},
          {"states", states},
          {"parameters", parametersJson(model)},
          {"passes", passesJson(model)},
          {"merged", mergedOps(model)},
          {"rolled", rolledJson(model)},
          {"plan", planJson(data)},
          {"provenance",
           {{"source", model.path},
            {"graph_hash", data.graphHash},
            {"settings", settings},
            {"version", std::string(kVersion)},
            {"build", data.producer}}}};
}

void printSummary(const Model &model, Console &console) {
  const package::PackageData &data = model.package->data();
  console.print(fmt::format("{}: net {}, graph {}, {}, {} shards, made by {}", model.path, data.net,
                            data.graphHash, data.numerics, data.shards, data.producer));
  for (const package::Entry &entry : data.entries) {
    console.print(fmt::format("entry {} ({} launches)", entry.name,
                              entry.programs.empty() ? 0 : entry.programs[0].launches.size()));
    for (const auto *list : {&entry.inputs, &entry.outputs})
      for (const package::Binding &b : *list)
        console.print(fmt::format(
            "  {:<8} {:<32} {}", b.role, b.name,
            package::typeText(data.buffers[b.buffer].dtype, data.buffers[b.buffer].shape)));
  }
}

void printMerged(const Model &model, Console &console) {
  if (Json merged = mergedOps(model); !merged.is_null())
    console.print(fmt::format("merged {} ops with equal ones before them", merged.get<int64_t>()));
}

void printRolled(const Model &model, Console &console) {
  if (model.compiled)
    for (const passes::RolledLayer &layer : model.compiled->rolled)
      console.print(rolledLine(layer));
}

void printParameters(const Model &model, Console &console) {
  const package::PackageData &data = model.package->data();
  int64_t total = 0;
  console.print(fmt::format("{:<36} {:<20} {:>12} {:<28} {}", "parameter", "shape", "elements",
                            "init", "line"));
  for (const package::Parameter &parameter : data.parameters) {
    const package::Buffer &buffer = data.buffers[parameter.buffers[0]];
    int64_t elements = int64_t(buffer.bytes / dtypeBytes(buffer.dtype));
    total += elements;
    const package::Location &at = data.locations[parameter.location];
    console.print(fmt::format("{:<36} {:<20} {:>12} {:<28} {}:{}", parameter.name,
                              package::typeText(buffer.dtype, buffer.shape), elements,
                              parameter.init, at.file, at.line));
  }
  console.print(fmt::format("total {}", total));
}

void printPlan(const Model &model, Console &console) {
  for (const package::DevicePlan &plan : package::planOf(model.package->data())) {
    console.print(fmt::format(
        "{}  peak {}: weights {}, gradients {}, optimizer {}, activations {}, workspace {}",
        plan.device, bytesText(plan.arenaBytes), bytesText(plan.weightBytes()),
        bytesText(plan.gradientBytes()), bytesText(plan.optimizerBytes()),
        bytesText(plan.activationBytes()), bytesText(plan.workspaceBytes())));
    const package::PackageData &data = model.package->data();
    for (uint32_t index : plan.largest) {
      const package::Buffer &buffer = data.buffers[index];
      const package::Location &at = data.locations[buffer.location];
      console.print(fmt::format("  {:>12}  {:<12} {:<32} {:<20} {}", bytesText(buffer.bytes),
                                package::kKindNames[size_t(buffer.kind)], buffer.name,
                                package::typeText(buffer.dtype, buffer.shape),
                                at.line ? fmt::format("{}:{}", at.file, at.line) : ""));
    }
  }
  const package::PackageData &data = model.package->data();
  const auto devices = int64_t(data.devices.size());
  const std::string messages =
      messagesLine(data, package::processesOf(data.devices.size(), devices));
  if (!messages.empty())
    console.print(messages + " besides, with a process for each device");
}

void printLimits(const lnet::Limits &limits, const lstmc::Limits &files, Console &console) {
  struct Row {
    std::string_view name;
    uint64_t value;
    std::string_view what;
  };
  const Row rows[] = {
#define LSTMC_X(NAME, DEFAULT, WHAT) {#NAME, limits.NAME, WHAT},
      LSTMC_LNET_LIMITS(LSTMC_X)
#undef LSTMC_X
          {"json-string", files.jsonString, "bytes of a string in JSON"},
      {"csv-line", files.csvLine, "bytes of a line of text or of a table"},
      {"record", files.record, "bytes of a record"},
      {"data-memory", files.dataMemory, "bytes of a file of data that are held in memory"},
      {"ratio", files.ratio, "bytes unpacked for one packed byte"},
      {"header", files.header, "bytes of a safetensors header"},
  };
  Json list = Json::array();
  for (const Row &row : rows) {
    list.push_back({{"name", row.name}, {"value", row.value}, {"what", row.what}});
    if (!console.json())
      console.print(fmt::format("{:<12} {:>14}  {}", row.name, row.value, row.what));
  }
  if (console.json())
    console.print(Json{{"schema", "lstmc.inspect/1"}, {"limits", list}});
}

/// The module before the first pass, below the two commands that make its package, or after the
/// last one.
CommandResult emitCompiled(symbol::Network net, const Options &options, EmitForm form,
                           Console &console) {
  ModelRequest request;
  request.keepSource = form == EmitForm::Module;
  request.keepExec = form == EmitForm::Exec;
  LSTMC_CHECKED_ASSIGN(Model model,
                       compileNet(std::move(net), options.operands[0], options, request));
  console.warn(model.warnings);
  const passes::Compiled &compiled = *model.compiled;
  if (form == EmitForm::Module)
    for (const std::string *pipeline : {&compiled.pipeline, &compiled.passes})
      console.write(fmt::format("// lstmc opt --pass-pipeline='{}' FILE\n", *pipeline));
  console.write(compiled.sourceText + compiled.execText);
  return ExitCode::Ok;
}

/// --emit: the network in another form.
CommandResult emit(const Options &options, EmitForm form, Console &console) {
  if (!isSource(options.operands[0]))
    return fail(ErrorCode::E0001, "--emit takes a source, which {} is not", options.operands[0]);
  Checked<symbol::Network> read = loadSource(options.operands[0], options);
  if (!read.ok())
    return read.diagnostics();
  console.warn(read.diagnostics());
  symbol::Network net = std::move(*read);
  switch (form) {
  case EmitForm::Sym:
    console.write(net.graph->text());
    break;
  case EmitForm::Lnet:
    console.write(lnet::emitLnet(*net.graph, net.fit, net.data, net.place));
    break;
  case EmitForm::Dot:
    console.write(viz::networkDot(*symbol::takeModule(*net.graph)));
    break;
  case EmitForm::Module:
  case EmitForm::Exec:
    return emitCompiled(std::move(net), options, form, console);
  }
  return ExitCode::Ok;
}

Status printPasses(const Model &model, Console &console) {
  if (!model.compiled)
    return fail(ErrorCode::E0001, "--passes takes a source: {} is compiled already", model.path);
  for (const passes::PassTime &time : model.compiled->times)
    console.print(fmt::format("{:<24} {:>10.3f} ms {:>8} -> {:>8} ops", time.pass,
                              time.seconds * 1e3, time.opsBefore, time.opsAfter));
  return {};
}

CommandResult inspectModel(const Options &options, Console &console) {
  ModelRequest request;
  request.countOps = true;
  LSTMC_CHECKED_ASSIGN(Model model, loadModel(options, request));
  console.warn(model.warnings);
  if (console.json()) {
    console.print(packageJson(model, model.package->bytes()));
    return ExitCode::Ok;
  }
  bool asked = options.listParams || options.plan || options.passes;
  if (options.summary || !asked) {
    printSummary(model, console);
    printMerged(model, console);
    printRolled(model, console);
  }
  if (options.listParams)
    printParameters(model, console);
  if (options.plan)
    printPlan(model, console);
  if (options.passes)
    LSTMC_CHECKED_TRY(printPasses(model, console));
  return ExitCode::Ok;
}

CommandResult inspectFile(const std::string &path, const Options &options, Console &console) {
  Options one = options;
  one.operands = {path};
  return options.emit    ? emit(one, *options.emit, console)
         : isModel(path) ? inspectModel(one, console)
                         : inspectData(path, options, console);
}

} // namespace

CommandResult inspectCommand(const Options &options, Console &console) {
  if (options.limits) {
    LSTMC_CHECKED_ASSIGN(lnet::Limits limits, sourceLimits(options));
    LSTMC_CHECKED_ASSIGN(lstmc::Limits files, fileLimits(options));
    printLimits(limits, files, console);
    return ExitCode::Ok;
  }
  if (options.operands.empty())
    return fail(ErrorCode::E0001, "inspect takes a file");
  if (console.json() && options.operands.size() > 1)
    return fail(ErrorCode::E0001, "--json is one document, on one file; got {}",
                options.operands.size());
  if (options.untrusted)
    return inspectUntrusted(options, console);
  for (const std::string &path : options.operands)
    if (CommandResult result = inspectFile(path, options, console);
        !result.ok() || result.exit() != ExitCode::Ok)
      return result;
  return ExitCode::Ok;
}

} // namespace lstmc::cli
