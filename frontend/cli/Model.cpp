#include "frontend/cli/Model.h"

#include <algorithm>
#include <filesystem>

#include <fmt/ranges.h>

#include "executor/abi/Optimizers.h"
#include "executor/base/LowerCase.h"
#include "executor/base/Suggest.h"
#include "executor/training/FitSettings.h"
#include "executor/training/Metrics.h"
#include "frontend/cli/CompilerFailure.h"
#include "frontend/cli/DeviceFlags.h"
#include "frontend/cli/FitCheck.h"
#include "frontend/cli/PlanText.h"
#include "frontend/cli/RecomputeFlag.h"
#include "frontend/cli/SettingText.h"
#include "frontend/cli/Version.h"
#include "frontend/lnet/Load.h"
#include "frontend/symbol/Module.h"
#include "passes/Pipelines.h"
#include "passes/Reproducer.h"
#include "passes/planning/Layouts.h"
#include "passes/planning/Recompute.h"
#include "passes/planning/rates/MachineRates.h"

namespace lstmc::cli {

namespace fs = std::filesystem;

std::optional<std::string> findSetting(const std::vector<package::Setting> &settings,
                                       std::string_view key) {
  std::optional<std::string> value;
  for (const package::Setting &setting : settings)
    if (setting.name == key)
      value = setting.value;
  return value;
}

/// Values of the optimizer that are compiled into `step`.
static Result<passes::OptimizerSpec> optimizerSpec(const std::vector<package::Setting> &fit) {
  passes::OptimizerSpec spec;
  spec.name = findSetting(fit, "optimizer").value_or("sgd");
  const Optimizer *row = findOptimizer(spec.name);
  if (!row)
    return fail(ErrorCode::E0001, "there is no optimizer \"{}\"{}; there are {}", spec.name,
                didYouMean(spec.name, training::optimizerNames()),
                fmt::join(nearestFirst(spec.name, training::optimizerNames()), ", "));
  for (const OptimizerKey &key : row->keys)
    if (std::optional<std::string> text = findSetting(fit, key.name); text && *text != "None") {
      LSTMC_ASSIGN(spec.keys[std::string(key.name)], training::parseOptimizerKey(key, *text));
    }
  auto read = [&](std::string_view name, auto take) -> Status {
    std::optional<std::string> text = findSetting(fit, name);
    if (!text || *text == "None")
      return {};
    LSTMC_ASSIGN(double value, training::parseOptimizerKey(*findOptimizerKey(name), *text));
    take(value);
    return {};
  };
  LSTMC_TRY(read("wd", [&](double v) { spec.wd = v; }));
  LSTMC_TRY(read("rescale_grad", [&](double v) { spec.rescaleGrad = v; }));
  LSTMC_TRY(read("clip_gradient", [&](double v) { spec.clipGradient = v; }));
  LSTMC_TRY(read("clip_gradient_norm", [&](double v) { spec.clipGradientNorm = v; }));
  return spec;
}

/// fit(..) of the file, then --optimizer, --lr and --fit, then what the command insists on.
static Result<std::vector<package::Setting>> fitInForce(const std::vector<symbol::Setting> &file,
                                                        const Options &options,
                                                        const ModelRequest &request) {
  std::vector<package::Setting> fit = settingTexts(file);
  if (options.optimizer)
    fit.push_back({"optimizer", *options.optimizer});
  if (options.lr)
    fit.push_back({"learning_rate", *options.lr});
  for (const auto &[key, value] : options.fit) {
    std::vector<std::string_view> known = lnet::fitKeys();
    if (std::find(known.begin(), known.end(), key) == known.end())
      return fail(ErrorCode::E0001, "fit has no key \"{}\"{}", key, didYouMean(key, known));
    if (key == "initializer")
      return fail(ErrorCode::E0001,
                  "--fit takes no initializer: it is a call, and stands in fit(..) of the file");
    fit.push_back({key, value});
  }
  fit.insert(fit.end(), request.fit.begin(), request.fit.end());
  for (package::Setting &setting : fit)
    if (setting.name == "optimizer")
      setting.value = lowerCase(setting.value);
  return fit;
}

/// What layouts are weighed by, where flags leave them open; all else that is compiled depends on
/// no measurement. Nor does anything in a package that is kept, or who adds gradients: those
/// figures are the built-in ones.
static void describeMachine(const Options &options, const ModelRequest &request,
                            std::vector<DeviceName> devices, passes::CompileOptions &compile) {
  compile.deviceMemory = request.deviceMemory;
  if (!request.machines.empty()) {
    compile.machines = request.machines;
    return;
  }
  if ((compile.stages == 1 && compile.place.empty()) || options.command == CommandId::Compile)
    return;
  const auto each = int(std::min<int64_t>(*options.threads, 1024));
  compile.machines = planning::machinesOf(devices, each);
  // Of one kind: fewer of them share the same processors out.
  for (; !devices.empty() && compile.machines.size() == 1; devices.pop_back())
    compile.sharing.insert(compile.sharing.begin(), planning::machinesOf(devices, each).front());
}

/// --entry, else what the command needs.
static Result<std::vector<std::string>> entriesAsked(const Options &options,
                                                     const ModelRequest &request) {
  static constexpr std::string_view kEntries[] = {"forward", "evaluate", "step"};
  std::vector<std::string_view> known(std::begin(kEntries), std::end(kEntries));
  std::vector<std::string> entries = options.entry.given() ? *options.entry : request.entries;
  for (const std::string &entry : entries)
    if (std::find(known.begin(), known.end(), entry) == known.end())
      return fail(ErrorCode::E0001, "--entry knows forward, evaluate and step, got \"{}\"{}", entry,
                  didYouMean(entry, known));
  return entries;
}

static Status checkDisabledPasses(const Options &options) {
  std::vector<std::string_view> optimisations = {"fuse",     "hoist-projection", "merge-equal-ops",
                                                 "schedule", "in-place",         "sharing"};
  for (const std::string &name : options.disablePass)
    if (std::find(optimisations.begin(), optimisations.end(), name) == optimisations.end())
      return fail(ErrorCode::E0001, "--disable-pass knows {}, got \"{}\"{}",
                  fmt::join(optimisations, ", "), name, didYouMean(name, optimisations));
  return {};
}

/// Whether a metric that is asked for needs the score of every label.
static bool asksForScores(const Options &options, const std::vector<package::Setting> &fit) {
  std::vector<std::string> asked = splitCommas(findSetting(fit, "eval_metric").value_or(""));
  asked.insert(asked.end(), options.metric->begin(), options.metric->end());
  for (const std::string &text : options.expect)
    asked.push_back(text.substr(0, text.find_first_of("<>=!")));
  return std::ranges::any_of(asked, training::needsScores);
}

/// What the package keeps of the source.
static void describeSource(const symbol::Network &net, passes::CompileOptions &compile) {
  compile.net = net.net;
  compile.graphHash = net.graph->hash();
  for (const symbol::SettingInForce &setting : net.settings)
    compile.settings.push_back({setting.name, settingText(setting.value)});
  compile.data = settingTexts(net.data);
}

static Result<passes::CompileOptions> compileOptions(const symbol::Network &net,
                                                     const Options &options,
                                                     const ModelRequest &request,
                                                     const std::vector<package::Setting> &fit) {
  passes::CompileOptions compile;
  describeSource(net, compile);
  LSTMC_ASSIGN(compile.entries, entriesAsked(options, request));
  LSTMC_ASSIGN(std::vector<DeviceName> devices, devicesAsked(options, net));
  if (!request.devicesMayBeAbsent) {
    LSTMC_ASSIGN(auto present, makeDevices(devices, {.threads = 1})); // or they are refused
  }
  LSTMC_TRY(readDeviceFlags(options, net, devices, compile));
  LSTMC_TRY(readRecompute(options, *net.graph, compile));
  describeMachine(options, request, devices, compile);
  compile.shards = *options.shards;
  if (compile.shards < 1 || compile.shards > 4096)
    return fail(ErrorCode::E0001, "--shards takes 1 to 4096, got {}", compile.shards);
  if (options.mem)
    compile.memoryLimit = uint64_t(*options.mem);
  LSTMC_ASSIGN(compile.optimizer, optimizerSpec(fit));
  compile.carry = splitCommas(findSetting(fit, "carry").value_or(""));
  compile.carry.insert(compile.carry.end(), request.carry.begin(), request.carry.end());
  if (options.dtype.given())
    compile.dtype = *options.dtype;
  compile.scores = asksForScores(options, fit);
  LSTMC_TRY(checkDisabledPasses(options));
  compile.disabled = options.disablePass;
  compile.producer = versionLine();
  compile.keepExec = request.keepExec;
  compile.fit = fit;
  return compile;
}

/// What fit(..) asks in vain, and devices without work: beside the warnings of the compiler.
static Checked<passes::Compiled> withFaults(Checked<passes::Compiled> compiled, Diagnostics faults,
                                            bool werror) {
  for (Diagnostic &warning : idleDevices(compiled->package))
    faults.push_back(std::move(warning));
  if (std::any_of(faults.begin(), faults.end(),
                  [](const Diagnostic &fault) { return fault.severity == Severity::Error; }))
    return faults;
  Diagnostics &warnings = compiled.diagnostics();
  warnings.insert(warnings.end(), faults.begin(), faults.end());
  if (!werror || warnings.empty())
    return compiled;
  for (Diagnostic &warning : warnings)
    warning.severity = Severity::Error;
  return warnings;
}

Checked<Model> compileNet(symbol::Network net, const Options &options,
                          const ModelRequest &request) {
  CompilerMemory memory;
  LSTMC_CHECKED_ASSIGN(std::vector<package::Setting> fit, fitInForce(net.fit, options, request));
  LSTMC_CHECKED_ASSIGN(passes::CompileOptions compile, compileOptions(net, options, request, fit));
  std::vector<std::string> states = statesOf(*net.graph);
  mlir::OwningOpRef<mlir::ModuleOp> module = symbol::takeModule(*net.graph);
  mlir::OwningOpRef<mlir::ModuleOp> before = module->clone();
  Checked<passes::Compiled> compiled = planning::compile(*module, compile);
  if (compiled.ok()) {
    Diagnostics faults = checkFit(net, fit, states, compiled->package);
    compiled = withFaults(std::move(compiled), std::move(faults), options.werror);
  }
  if (!compiled.ok())
    return compiled.diagnostics();
  Model model;
  package::Bytes bytes = package::serialize(compiled->package);
  Result<package::Package::Pointer> package =
      package::Package::open(bytes, "the package just compiled");
  if (!package.ok())
    return passes::explainRefusal(package.error(), compiled->package, *before, compile);
  model.package = *package;
  model.warnings = compiled.diagnostics();
  model.compiled = std::move(*compiled);
  model.fit = fit;
  return model;
}

Checked<mlir::OwningOpRef<mlir::ModuleOp>>
moduleAfter(const std::string &pass, symbol::Network &net, const Options &options) {
  CompilerMemory memory;
  LSTMC_CHECKED_ASSIGN(std::vector<package::Setting> fit, fitInForce(net.fit, options, {}));
  LSTMC_CHECKED_ASSIGN(passes::CompileOptions compile, compileOptions(net, options, {}, fit));
  std::vector<std::string> names = passes::passNames(compile);
  if (std::find(names.begin(), names.end(), pass) == names.end())
    return asDiagnostic(fail(ErrorCode::E0001, "--after knows {}, got \"{}\"{}",
                             fmt::join(names, ", "), pass,
                             didYouMean(pass, {names.begin(), names.end()})));
  compile.stopAfter = pass;
  mlir::OwningOpRef<mlir::ModuleOp> module = symbol::takeModule(*net.graph);
  Checked<passes::Compiled> compiled = planning::compile(*module, compile);
  if (!compiled.ok())
    return compiled.diagnostics();
  return {std::move(module), compiled.diagnostics()};
}

/// A package has its shapes, settings and optimizer already.
static Status refuseCompileFlags(const Options &options, std::string_view what) {
  for (const FlagRecord &flag : flags())
    if (flag.group == FlagGroup::Compiled && options.isGiven(flag.flag))
      return fail(ErrorCode::E0001,
                  "--{} changes what is compiled, and {} is compiled already; give the .lnet file",
                  flag.name, what);
  return {};
}

static Result<Model> openCheckpoint(const std::string &path, const Options &options,
                                    const ModelRequest &request) {
  LSTMC_TRY(refuseCompileFlags(options, "a checkpoint"));
  LSTMC_ASSIGN(training::FoundCheckpoint found, training::findCheckpoint(path));
  Model model;
  std::string name = request.attachment.empty() ? "model.lstmc" : request.attachment;
  auto attached = found.checkpoint.attachments.find(name);
  if (attached == found.checkpoint.attachments.end())
    return failAt({found.checkpoint.folder}, ErrorCode::E0610, "this checkpoint has no {}{}", name,
                  request.attachment.empty()
                      ? ""
                      : ": its net does not read one sequence of symbols, so it cannot write any");
  LSTMC_ASSIGN(model.package,
               package::Package::open(attached->second, found.checkpoint.folder + "/" + name));
  model.checkpoint = std::move(found.checkpoint);
  model.fit = model.package->data().fit;
  return model;
}

static Result<Model> openPackage(const std::string &path, const Options &options) {
  LSTMC_TRY(refuseCompileFlags(options, "a package"));
  Model model;
  LSTMC_ASSIGN(model.package, package::Package::open(path));
  model.fit = model.package->data().fit;
  return model;
}

/// A source, compiled as the options say.
static Checked<Model> compileSource(const Options &options, const ModelRequest &request) {
  const std::string &path = options.operands[0];
  Checked<symbol::Network> net = loadSource(path, options, request);
  if (!net.ok())
    return net.diagnostics();
  Diagnostics warnings = net.diagnostics();
  Checked<Model> model = compileNet(std::move(*net), options, request);
  if (!model.ok())
    return model.diagnostics();
  model->path = path;
  model->warnings.insert(model->warnings.begin(), warnings.begin(), warnings.end());
  return model;
}

static target::Machines machinesFor(const package::PackageData &data, const ModelRequest &request) {
  return request.machines.size() == data.devices.size() ? request.machines : target::Machines(1);
}

/// "lstm0,lstm1 again: 1.20 GiB instead of 2.01 GiB, update +12 %"
static std::string costOf(const std::string &layers, const package::PackageData &before,
                          const package::PackageData &after, const ModelRequest &request) {
  auto most = [](const package::PackageData &data) {
    uint64_t bytes = 0;
    for (const package::Device &device : data.devices)
      bytes = std::max(bytes, device.arenaBytes);
    return bytes;
  };
  double fraction =
      *planning::forecastSeconds(after, "step", machinesFor(after, request)) /
          std::max(*planning::forecastSeconds(before, "step", machinesFor(before, request)),
                   1e-12) -
      1;
  return fmt::format(
      "recompute {}: {} instead of {}, update {:+.0f} % by forecast · --recompute none "
      "does without",
      layers, bytesText(most(after)), bytesText(most(before)), 100 * fraction);
}

/// Where a training does not fit into --mem and --recompute says nothing: with as few layers
/// computed again as are enough, those first that take the least time per byte. None where that
/// does not help.
static std::optional<Model> withRecompute(const Options &options, const ModelRequest &request) {
  if (!options.mem || options.recompute.given())
    return std::nullopt;
  Options changed = options;
  changed.mem.reset();
  Checked<Model> whole = compileSource(changed, request);
  changed.mem = options.mem;
  Checked<symbol::Network> net = loadSource(options.operands[0], options, request);
  if (!whole.ok() || !net.ok())
    return std::nullopt;
  const package::PackageData &before = whole->package->data();
  planning::Capacities capacities(before.devices.size(), uint64_t(*options.mem));
  for (const std::vector<std::string> &layers : planning::layersToRecompute(
           before, opsOf(*net->graph), machinesFor(before, request), capacities)) {
    std::string list = fmt::format("{}", fmt::join(layers, ","));
    changed.recompute = list;
    Checked<Model> model = compileSource(changed, request);
    if (!model.ok())
      continue;
    model->recomputed = costOf(list, before, model->package->data(), request);
    return std::move(*model);
  }
  return std::nullopt;
}

Status checkOneModel(const Options &options) {
  if (options.operands.size() != 1)
    return fail(ErrorCode::E0001, "lstmc {} takes one MODEL, got {}", options.commandName(),
                options.operands.size());
  return {};
}

Checked<Model> loadModel(const Options &options, const ModelRequest &request) {
  LSTMC_CHECKED_TRY(checkOneModel(options));
  const std::string &path = options.operands[0];
  std::error_code error;
  if (fs::is_directory(path, error) || path.ends_with(".lstmc")) {
    LSTMC_CHECKED_ASSIGN(Model model, fs::is_directory(path, error)
                                          ? openCheckpoint(path, options, request)
                                          : openPackage(path, options));
    model.path = path;
    return model;
  }
  LSTMC_CHECKED_TRY(fileLimits(options));
  Checked<Model> model = compileSource(options, request);
  if (!model.ok() && model.diagnostics().front().code == ErrorCode::E0401)
    if (std::optional<Model> less = withRecompute(options, request))
      return std::move(*less);
  return model;
}

} // namespace lstmc::cli
