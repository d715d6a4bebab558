// inspect: what is in any file that some loader reads.

#include <filesystem>

#include "executor/base/Sha256.h"
#include "executor/data/Csv.h"
#include "executor/data/Idx.h"
#include "executor/data/Npy.h"
#include "executor/data/Npz.h"
#include "executor/data/SafeTensors.h"
#include "executor/package/Plan.h"
#include "frontend/cli/Commands.h"
#include "frontend/cli/Model.h"
#include "frontend/cli/PlanText.h"
#include "frontend/cli/SettingText.h"
#include "frontend/symbol/Module.h"
#include "viz/Network.h"

namespace lstmc::cli {

namespace {

using Json = nlohmann::ordered_json;

struct ArrayRow {
  std::string name;
  DType dtype;
  std::vector<int64_t> shape;
};

int printArrays(const std::string &path, std::string_view kind, const std::vector<ArrayRow> &rows, Console &console) {
  if (console.json()) {
    Json list = Json::array();
    for (const ArrayRow &row : rows)
      list.push_back({{"name", row.name}, {"dtype", dtypeName(row.dtype)}, {"shape", row.shape}});
    console.print(Json{{"schema", "lstmc.inspect/1"}, {"file", path}, {"kind", kind}, {"parameters", list}});
    return 0;
  }
  console.print(fmt::format("{}: {}, {} arrays", path, kind, rows.size()));
  for (const ArrayRow &row : rows)
    console.print(fmt::format("  {:<40} {}", row.name, package::typeText(row.dtype, row.shape)));
  return 0;
}

template <typename T> int failWith(const Result<T> &result, Console &console) { return console.fail(result.error()); }

int inspectArrays(const std::string &path, Console &console) {
  std::vector<ArrayRow> rows;
  if (path.ends_with(".safetensors")) {
    Result<data::SafeTensors> file = data::SafeTensors::load(path);
    if (!file.ok())
      return failWith(file, console);
    for (const data::TensorRecord &record : file->records())
      rows.push_back({record.name, record.dtype, record.shape});
    return printArrays(path, "safetensors", rows, console);
  }
  if (path.ends_with(".npz")) {
    auto file = data::loadNpz(path);
    if (!file.ok())
      return failWith(file, console);
    for (const data::NamedArray &array : *file)
      rows.push_back({array.name, array.array.dtype, array.array.shape});
    return printArrays(path, "npz", rows, console);
  }
  auto array = data::loadNpy(path);
  if (!array.ok())
    return failWith(array, console);
  return printArrays(path, "npy", {{"", array->dtype, array->shape}}, console);
}

/// Names, shapes and where they came from: of a package, whatever it was made of.
Json packageJson(const Model &model, uint64_t bytes) {
  const package::PackageData &data = model.package->data();
  auto binding = [&](const package::Binding &b) {
    const package::Buffer &buffer = data.buffers[b.buffer];
    return Json{{"name", b.name}, {"role", b.role}, {"dtype", dtypeName(buffer.dtype)}, {"shape", buffer.shape}, {"dims", b.dims}};
  };
  Json inputs = Json::array(), outputs = Json::array(), states = Json::array(), entries = Json::array(), parameters = Json::array(),
       settings = Json::object();
  for (const package::Entry &entry : data.entries) {
    Json ins = Json::array(), outs = Json::array();
    for (const package::Binding &b : entry.inputs)
      ins.push_back(binding(b));
    for (const package::Binding &b : entry.outputs)
      outs.push_back(binding(b));
    entries.push_back({{"name", entry.name}, {"launches", entry.programs.empty() ? 0 : entry.programs[0].launches.size()}, {"inputs", ins}, {"outputs", outs}});
  }
  for (const package::State &state : data.states)
    states.push_back({{"name", state.name}, {"shape", data.buffers[state.buffers[0]].shape}});
  for (const package::Parameter &parameter : data.parameters) {
    const package::Buffer &buffer = data.buffers[parameter.buffers[0]];
    parameters.push_back({{"name", parameter.name}, {"role", parameter.auxiliary ? "auxiliary" : "parameter"}, {"dtype", dtypeName(buffer.dtype)},
                          {"shape", buffer.shape}, {"bytes", buffer.bytes}, {"init", parameter.init}, {"lr_mult", parameter.lrMult},
                          {"wd_mult", parameter.wdMult}, {"group", parameter.group}});
  }
  for (const package::Setting &setting : data.settings)
    settings[setting.name] = setting.value;
  Json passes = Json::array();
  if (model.compiled)
    for (const passes::PassTime &time : model.compiled->times)
      passes.push_back({{"name", time.pass}, {"time_s", time.seconds}, {"ops_before", time.opsBefore}, {"ops_after", time.opsAfter}});
  return {{"schema", "lstmc.inspect/1"},
          {"file", model.path},
          {"kind", model.compiled ? "lnet" : model.checkpoint ? "checkpoint" : "package"},
          {"bytes", bytes},
          {"sha256", model.package->digest()},
          {"format_version", data.abi},
          {"nets", {data.net}},
          {"entries", entries},
          {"states", states},
          {"parameters", parameters},
          {"passes", passes},
          {"plan", model.compiled ? planJson(model.compiled->plan) : Json()},
          {"provenance", {{"source", model.path}, {"graph_hash", data.graphHash}, {"settings", settings}, {"build", data.producer}}}};
}

void printSummary(const Model &model, Console &console) {
  const package::PackageData &data = model.package->data();
  console.print(fmt::format("{}: net {}, graph {}, {}, {} shards, made by {}", model.path, data.net, data.graphHash, data.numerics, data.shards, data.producer));
  for (const package::Entry &entry : data.entries) {
    console.print(fmt::format("entry {} ({} launches)", entry.name, entry.programs.empty() ? 0 : entry.programs[0].launches.size()));
    for (const auto *list : {&entry.inputs, &entry.outputs})
      for (const package::Binding &b : *list)
        console.print(fmt::format("  {:<8} {:<32} {}", b.role, b.name, package::typeText(data.buffers[b.buffer].dtype, data.buffers[b.buffer].shape)));
  }
}

void printParameters(const Model &model, Console &console) {
  const package::PackageData &data = model.package->data();
  int64_t total = 0;
  console.print(fmt::format("{:<36} {:<20} {:>12} {:<28} {}", "parameter", "shape", "elements", "init", "line"));
  for (const package::Parameter &parameter : data.parameters) {
    const package::Buffer &buffer = data.buffers[parameter.buffers[0]];
    int64_t elements = int64_t(buffer.bytes / dtypeBytes(buffer.dtype));
    total += elements;
    const package::Location &at = data.locations[parameter.location];
    console.print(fmt::format("{:<36} {:<20} {:>12} {:<28} {}:{}", parameter.name, package::typeText(buffer.dtype, buffer.shape), elements,
                              parameter.init, at.file, at.line));
  }
  console.print(fmt::format("total {}", total));
}

void printPlan(const Model &model, Console &console) {
  for (const package::DevicePlan &plan : package::planOf(*model.package)) {
    console.print(fmt::format("{}  peak {}: weights {}, gradients {}, optimizer {}, activations {}, workspace {}", plan.device, mebibytes(plan.arenaBytes),
                              mebibytes(plan.weightBytes()), mebibytes(plan.gradientBytes()), mebibytes(plan.optimizerBytes()),
                              mebibytes(plan.activationBytes()), mebibytes(plan.workspaceBytes())));
    const package::PackageData &data = model.package->data();
    for (uint32_t index : plan.largest) {
      const package::Buffer &buffer = data.buffers[index];
      const package::Location &at = data.locations[buffer.location];
      console.print(fmt::format("  {:>12}  {:<12} {:<32} {:<20} {}", mebibytes(buffer.bytes), package::kKindNames[size_t(buffer.kind)], buffer.name,
                                package::typeText(buffer.dtype, buffer.shape), at.line ? fmt::format("{}:{}", at.file, at.line) : ""));
    }
  }
}

void printLimits(Console &console) {
  lnet::Limits limits;
#define LSTMC_X(NAME, DEFAULT, WHAT) console.print(fmt::format("{:<12} {:>14}  {}", #NAME, limits.NAME, WHAT));
  LSTMC_LNET_LIMITS(LSTMC_X)
#undef LSTMC_X
  lstmc::Limits files;
  console.print(fmt::format("{:<12} {:>14}  bytes of a string in JSON", "json-string", files.jsonString));
  console.print(fmt::format("{:<12} {:>14}  bytes of a line of text or of a table", "csv-line", files.csvLine));
  console.print(fmt::format("{:<12} {:>14}  bytes of a record", "record", files.record));
  console.print(fmt::format("{:<12} {:>14}  bytes unpacked for one packed byte", "ratio", files.ratio));
  console.print(fmt::format("{:<12} {:>14}  bytes of a safetensors header", "header", files.header));
}

int emit(const Options &options, const std::string &form, Console &console) {
  Result<lnet::LoadOptions> load = loadOptions(options, {});
  if (!load.ok())
    return console.fail(load.error());
  Checked<lnet::LoadedNet> net = lnet::load(options.operands[0], *load);
  if (!net.ok())
    return console.fail(net.diagnostics());
  if (form == "sym") {
    fmt::print("{}", net->graph->text());
  } else if (form == "dot") {
    mlir::OwningOpRef<mlir::ModuleOp> module = symbol::takeModule(*net->graph);
    fmt::print("{}", viz::networkDot(*module));
  } else if (form == "exec") {
    ModelRequest request;
    request.keepExec = true;
    Checked<Model> model = compileNet(std::move(*net), options, request);
    if (!model.ok())
      return console.fail(model.diagnostics());
    fmt::print("{}", model->compiled->execText);
  } else {
    return console.fail(fail(ErrorCode::E0001, "--emit knows sym, exec and dot, got \"{}\"", form));
  }
  return 0;
}

} // namespace

int inspectCommand(const Options &options, Console &console) {
  if (options.has("limits")) {
    printLimits(console);
    return 0;
  }
  if (options.operands.empty())
    return console.fail(fail(ErrorCode::E0001, "inspect takes a file"));
  for (const std::string &path : options.operands) {
    if (path.ends_with(".safetensors") || path.ends_with(".npz") || path.ends_with(".npy")) {
      if (int exit = inspectArrays(path, console))
        return exit;
      continue;
    }
    Options one = options;
    one.operands = {path};
    if (std::optional<std::string> form = options.value("emit"))
      return emit(one, *form, console);
    Checked<Model> model = loadModel(one, {});
    if (!model.ok())
      return console.fail(model.diagnostics());
    console.warn(model->warnings);
    if (console.json()) {
      console.print(packageJson(*model, package::serialize(model->package->data()).size()));
      continue;
    }
    bool any = false;
    if (options.has("params") || options.has("summary"))
      any = true, printParameters(*model, console);
    if (options.has("plan"))
      any = true, printPlan(*model, console);
    if (options.has("passes") && model->compiled) {
      any = true;
      for (const passes::PassTime &time : model->compiled->times)
        console.print(fmt::format("{:<24} {:>10.3f} ms {:>8} -> {:>8} ops", time.pass, time.seconds * 1e3, time.opsBefore, time.opsAfter));
    }
    if (!any)
      printSummary(*model, console);
  }
  return 0;
}

} // namespace lstmc::cli
