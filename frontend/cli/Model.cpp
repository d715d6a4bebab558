#include "frontend/cli/Model.h"

#include <algorithm>
#include <filesystem>

#include <fmt/ranges.h>

#include "executor/abi/Optimizers.h"
#include "executor/base/LowerCase.h"
#include "executor/training/FitSettings.h"
#include "frontend/cli/CompilerFailure.h"
#include "frontend/cli/DeviceFlags.h"
#include "frontend/cli/FitCheck.h"
#include "frontend/cli/PlanText.h"
#include "frontend/cli/RecomputeFlag.h"
#include "frontend/cli/SettingText.h"
#include "frontend/cli/Version.h"
#include "frontend/symbol/Module.h"
#include "frontend/symbol/Suggest.h"
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
  if (std::optional<std::string> name = options.value("optimizer"))
    fit.push_back({"optimizer", *name});
  if (std::optional<std::string> rate = options.value("lr"))
    fit.push_back({"learning_rate", *rate});
  for (const std::string &text : options.values("fit")) {
    LSTMC_ASSIGN(auto setting, splitSetting("fit", text));
    std::vector<std::string_view> known = lnet::fitKeys();
    if (std::find(known.begin(), known.end(), setting.first) == known.end())
      return fail(ErrorCode::E0001, "fit has no key \"{}\"{}", setting.first,
                  didYouMean(setting.first, known));
    if (setting.first == "initializer")
      return fail(ErrorCode::E0001,
                  "--fit takes no initializer: it is a call, and stands in fit(..) of the file");
    fit.push_back({setting.first, setting.second});
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
static Status describeMachine(const Options &options, const ModelRequest &request,
                              std::vector<DeviceName> devices, passes::CompileOptions &compile) {
  compile.deviceMemory = request.deviceMemory;
  if (!request.machines.empty()) {
    compile.machines = request.machines;
    return {};
  }
  if ((compile.stages == 1 && compile.place.empty()) || options.command == "compile")
    return {};
  LSTMC_ASSIGN(int64_t threads, options.countInForce("threads"));
  const auto each = int(std::min<int64_t>(threads, 1024));
  compile.machines = planning::machinesOf(devices, each);
  // Of one kind: fewer of them share the same processors out.
  for (; !devices.empty() && compile.machines.size() == 1; devices.pop_back())
    compile.sharing.insert(compile.sharing.begin(), planning::machinesOf(devices, each).front());
  return {};
}

static Result<passes::CompileOptions> compileOptions(const lnet::LoadedNet &net,
                                                     const Options &options,
                                                     const ModelRequest &request,
                                                     const std::vector<package::Setting> &fit) {
  passes::CompileOptions compile;
  compile.net = net.net;
  compile.entries = request.entries;
  if (std::optional<std::string> entries = options.value("entry"))
    compile.entries = splitCommas(*entries);
  static constexpr std::string_view kEntries[] = {"forward", "evaluate", "step"};
  std::vector<std::string_view> known(std::begin(kEntries), std::end(kEntries));
  for (const std::string &entry : compile.entries)
    if (std::find(known.begin(), known.end(), entry) == known.end())
      return fail(ErrorCode::E0001, "--entry knows forward, evaluate and step, got \"{}\"{}", entry,
                  didYouMean(entry, known));
  LSTMC_ASSIGN(std::vector<DeviceName> devices, devicesAsked(options, net));
  if (!request.devicesMayBeAbsent) {
    LSTMC_ASSIGN(auto present, makeDevices(devices, {.threads = 1})); // or they are refused
  }
  LSTMC_TRY(readDeviceFlags(options, net, devices, compile));
  LSTMC_TRY(readRecompute(options, *net.graph, compile));
  LSTMC_TRY(describeMachine(options, request, devices, compile));
  LSTMC_ASSIGN(compile.shards, options.countInForce("shards"));
  if (compile.shards < 1 || compile.shards > 4096)
    return fail(ErrorCode::E0001, "--shards takes 1 to 4096, got {}", compile.shards);
  if (options.has("mem")) {
    LSTMC_ASSIGN(int64_t bytes, options.bytesInForce("mem"));
    compile.memoryLimit = uint64_t(bytes);
  }
  LSTMC_ASSIGN(compile.optimizer, optimizerSpec(fit));
  compile.carry = splitCommas(findSetting(fit, "carry").value_or(""));
  compile.carry.insert(compile.carry.end(), request.carry.begin(), request.carry.end());
  if (std::optional<std::string> dtype = options.value("dtype")) {
    compile.dtype = parseDType(*dtype);
    if (compile.dtype != DType::F32 && compile.dtype != DType::F64)
      return fail(ErrorCode::E0001, "--dtype takes f32 or f64, got \"{}\"", *dtype);
  }
  compile.disabled = options.values("disable-pass");
  std::vector<std::string_view> optimisations = {"fuse",     "hoist-projection", "merge-equal-ops",
                                                 "schedule", "in-place",         "sharing"};
  for (const std::string &name : compile.disabled)
    if (std::find(optimisations.begin(), optimisations.end(), name) == optimisations.end())
      return fail(ErrorCode::E0001, "--disable-pass knows {}, got \"{}\"{}",
                  fmt::join(optimisations, ", "), name, didYouMean(name, optimisations));
  compile.producer = versionLine();
  compile.keepExec = request.keepExec;
  compile.graphHash = net.graph->hash();
  for (const lnet::SettingInForce &setting : net.settings)
    compile.settings.push_back({setting.name, settingText(setting.value)});
  compile.fit = fit;
  compile.data = settingTexts(net.data);
  return compile;
}

Checked<Model> compileNet(lnet::LoadedNet net, const Options &options,
                          const ModelRequest &request) {
  CompilerMemory memory;
  Result<std::vector<package::Setting>> fit = fitInForce(net.fit, options, request);
  if (!fit.ok())
    return asDiagnostic(fit.error());
  Result<passes::CompileOptions> compile = compileOptions(net, options, request, *fit);
  if (!compile.ok())
    return asDiagnostic(compile.error());
  std::vector<std::string> states = statesOf(*net.graph);
  mlir::OwningOpRef<mlir::ModuleOp> module = symbol::takeModule(*net.graph);
  mlir::OwningOpRef<mlir::ModuleOp> before = module->clone();
  Checked<passes::Compiled> compiled = planning::compile(*module, *compile);
  if (!compiled.ok())
    return compiled.diagnostics();
  Diagnostics faults = checkFit(net, *fit, states, compiled->package);
  for (Diagnostic &warning : idleDevices(compiled->package))
    faults.push_back(std::move(warning));
  if (std::any_of(faults.begin(), faults.end(),
                  [](const Diagnostic &fault) { return fault.severity == Severity::Error; }))
    return faults;
  compiled.diagnostics().insert(compiled.diagnostics().end(), faults.begin(), faults.end());
  if (options.has("werror") && !compiled.diagnostics().empty()) {
    for (Diagnostic &warning : compiled.diagnostics())
      warning.severity = Severity::Error;
    return compiled.diagnostics();
  }
  Model model;
  package::Bytes bytes = package::serialize(compiled->package);
  Result<package::Package::Pointer> package =
      package::Package::open(bytes, "the package just compiled");
  if (!package.ok())
    return passes::explainRefusal(package.error(), compiled->package, *before, *compile);
  model.package = *package;
  model.warnings = compiled.diagnostics();
  model.compiled = std::move(*compiled);
  model.fit = *fit;
  return model;
}

Checked<mlir::OwningOpRef<mlir::ModuleOp>>
moduleAfter(const std::string &pass, lnet::LoadedNet &net, const Options &options) {
  CompilerMemory memory;
  Result<std::vector<package::Setting>> fit = fitInForce(net.fit, options, {});
  if (!fit.ok())
    return asDiagnostic(fit.error());
  Result<passes::CompileOptions> compile = compileOptions(net, options, {}, *fit);
  if (!compile.ok())
    return asDiagnostic(compile.error());
  std::vector<std::string> names = passes::passNames(*compile);
  if (std::find(names.begin(), names.end(), pass) == names.end())
    return asDiagnostic(fail(ErrorCode::E0001, "--after knows {}, got \"{}\"{}",
                             fmt::join(names, ", "), pass,
                             didYouMean(pass, {names.begin(), names.end()})));
  compile->stopAfter = pass;
  mlir::OwningOpRef<mlir::ModuleOp> module = symbol::takeModule(*net.graph);
  Checked<passes::Compiled> compiled = planning::compile(*module, *compile);
  if (!compiled.ok())
    return compiled.diagnostics();
  return {std::move(module), compiled.diagnostics()};
}

/// A package has its shapes, settings and optimizer already.
static Status refuseCompileFlags(const Options &options, std::string_view what) {
  for (std::string_view flag : kCompileFlags)
    if (options.has(flag))
      return fail(ErrorCode::E0001,
                  "--{} changes what is compiled, and {} is compiled already; give the .lnet file",
                  flag, what);
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

/// A source, compiled as the options say.
static Checked<Model> compileSource(const Options &options, const ModelRequest &request) {
  const std::string &path = options.operands[0];
  Checked<lnet::LoadedNet> net = loadSource(path, options, request);
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
  if (!options.has("mem") || options.has("recompute"))
    return std::nullopt;
  Result<int64_t> mem = options.bytesInForce("mem");
  Checked<Model> whole = compileSource(options.with("mem", ""), request);
  Checked<lnet::LoadedNet> net = loadSource(options.operands[0], options, request);
  if (!mem.ok() || !whole.ok() || !net.ok())
    return std::nullopt;
  const package::PackageData &before = whole->package->data();
  planning::Capacities capacities(before.devices.size(), uint64_t(*mem));
  for (const std::vector<std::string> &layers : planning::layersToRecompute(
           before, opsOf(*net->graph), machinesFor(before, request), capacities)) {
    std::string list = fmt::format("{}", fmt::join(layers, ","));
    Checked<Model> model = compileSource(options.with("recompute", list), request);
    if (!model.ok())
      continue;
    model->recomputed = costOf(list, before, model->package->data(), request);
    return std::move(*model);
  }
  return std::nullopt;
}

Checked<Model> loadModel(const Options &options, const ModelRequest &request) {
  if (options.operands.size() != 1)
    return asDiagnostic(fail(ErrorCode::E0001, "lstmc {} takes one MODEL, got {}", options.command,
                             options.operands.size()));
  const std::string &path = options.operands[0];
  std::error_code error;
  auto finish = [&](Result<Model> result) -> Checked<Model> {
    if (!result.ok())
      return asDiagnostic(result.error());
    result->path = path;
    return std::move(*result);
  };
  if (fs::is_directory(path, error))
    return finish(openCheckpoint(path, options, request));
  if (path.ends_with(".lstmc")) {
    if (Status status = refuseCompileFlags(options, "a package"); !status.ok())
      return asDiagnostic(status.error());
    Result<package::Package::Pointer> package = package::Package::open(path);
    if (!package.ok())
      return asDiagnostic(package.error());
    Model model;
    model.path = path;
    model.package = *package;
    model.fit = model.package->data().fit;
    return model;
  }
  if (Result<lstmc::Limits> limits = fileLimits(options); !limits.ok())
    return asDiagnostic(limits.error());
  Checked<Model> model = compileSource(options, request);
  if (!model.ok() && model.diagnostics().front().code == ErrorCode::E0401)
    if (std::optional<Model> less = withRecompute(options, request))
      return std::move(*less);
  return model;
}

} // namespace lstmc::cli
