#include "frontend/cli/Model.h"

#include <algorithm>
#include <filesystem>

#include <fmt/ranges.h>

#include "frontend/cli/CompileFlags.h"
#include "frontend/cli/CompilerFailure.h"
#include "frontend/cli/FitCheck.h"
#include "frontend/cli/ParameterFlags.h"
#include "frontend/cli/PlanText.h"
#include "frontend/cli/RecomputeFlag.h"
#include "frontend/symbol/Module.h"
#include "passes/Pipelines.h"
#include "passes/Reproducer.h"
#include "passes/planning/Layouts.h"
#include "passes/planning/Recompute.h"

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

/// Our own package is refused, which no user is to see. The net as it was before the passes is read
/// once more, so that nobody pays for a copy of it where all goes well.
static Diagnostic whyRefused(const Error &refusal, const package::PackageData &package,
                             const passes::CompileOptions &compile, const Options &options,
                             const ModelRequest &request) {
  Checked<symbol::Network> net = loadSource(options.operands[0], options, request);
  if (!net.ok())
    return asDiagnostic(refusal);
  mlir::OwningOpRef<mlir::ModuleOp> before = symbol::takeModule(*net->graph);
  return passes::explainRefusal(refusal, package, *before, compile);
}

Checked<Model> compileNet(symbol::Network net, const Options &options,
                          const ModelRequest &request) {
  CompilerMemory memory;
  LSTMC_CHECKED_ASSIGN(std::vector<package::Setting> fit, fitInForce(net.fit, options, request));
  LSTMC_CHECKED_ASSIGN(passes::CompileOptions compile, compileOptions(net, options, request, fit));
  std::vector<std::string> states = statesOf(*net.graph);
  mlir::OwningOpRef<mlir::ModuleOp> module = symbol::takeModule(*net.graph);
  LSTMC_CHECKED_TRY(markParameters(*module, options));
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
    return whyRefused(package.error(), compiled->package, compile, options, request);
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

/// What flags say of the loop, on top of what the package was compiled with; the rest of fit(..) is
/// compiled.
static Status addFit(Model &model, const Options &options, std::string_view what) {
  constexpr std::string_view kOfLoop[] = {"learning_rate", "lr_scheduler", "num_epoch",
                                          "num_update",    "seed",         "eval_metric"};
  model.fit = model.package->data().fit;
  auto refuse = [&](std::string_view flag) {
    return fail(ErrorCode::E0001,
                "--{} changes what is compiled, and {} is compiled already; give the .lnet file",
                flag, what);
  };
  if (options.optimizer)
    return refuse("optimizer");
  if (options.lr)
    model.fit.push_back({"learning_rate", *options.lr});
  for (const auto &[key, value] : options.fit) {
    if (std::ranges::find(kOfLoop, key) == std::end(kOfLoop))
      return refuse("fit " + key);
    model.fit.push_back({key, value});
  }
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
  LSTMC_TRY(addFit(model, options, "a checkpoint"));
  return model;
}

static Result<Model> openPackage(const std::string &path, const Options &options) {
  LSTMC_TRY(refuseCompileFlags(options, "a package"));
  Model model;
  LSTMC_ASSIGN(model.package, package::Package::open(path));
  LSTMC_TRY(addFit(model, options, "a package"));
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

/// Of an update, by forecast.
static double secondsOf(const package::PackageData &data, const ModelRequest &request) {
  return *planning::forecastSeconds(data, "step", machinesFor(data, request));
}
static double secondsOf(const Model &model, const ModelRequest &request) {
  return secondsOf(model.package->data(), request);
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
  double fraction = secondsOf(after, request) / std::max(secondsOf(before, request), 1e-12) - 1;
  return fmt::format(
      "recompute {}: {} instead of {}, update {:+.0f} % by forecast · --recompute none "
      "does without",
      layers, bytesText(most(after)), bytesText(most(before)), 100 * fraction);
}

/// Where a training does not fit into --mem and --recompute says nothing: with as few layers
/// computed again as are enough, those first that take the least time per byte, or with the steps
/// computed again in segments, whichever takes less time. None where that does not help.
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
  std::vector<std::string> layers;
  for (const std::vector<std::string> &names : planning::layersToRecompute(
           before, opsOf(*net->graph), machinesFor(before, request), capacities))
    layers.push_back(fmt::format("{}", fmt::join(names, ",")));
  std::optional<Model> best;
  for (const std::vector<std::string> &attempts : {layers, planning::stepsToRecompute(before)})
    for (const std::string &list : attempts) {
      changed.recompute = list;
      Checked<Model> model = compileSource(changed, request);
      if (!model.ok())
        continue;
      if (!best || secondsOf(*model, request) < secondsOf(*best, request)) {
        best = std::move(*model);
        best->recomputed = costOf(list, before, best->package->data(), request);
      }
      break;
    }
  return best;
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
