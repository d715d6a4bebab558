#include "frontend/driver/Model.h"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include <fmt/ranges.h>

#include "executor/base/NumberText.h"
#include "frontend/driver/CompileOptions.h"
#include "frontend/driver/CompilerMemory.h"
#include "frontend/driver/FitCheck.h"
#include "frontend/driver/MemoryFit.h"
#include "frontend/symbol/Module.h"
#include "passes/Pipelines.h"
#include "passes/Reproducer.h"
#include "passes/planning/Layouts.h"

namespace lstmc::driver {

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
                             const passes::CompileOptions &compile, const std::string &path,
                             const CompileRequest &options, const ModelRequest &request) {
  if (!isSource(path))
    return asDiagnostic(refusal);
  Checked<symbol::Network> net = loadSource(path, options, request);
  if (!net.ok())
    return asDiagnostic(refusal);
  mlir::OwningOpRef<mlir::ModuleOp> before = symbol::takeModule(*net->graph);
  return passes::explainRefusal(refusal, package, *before, compile);
}

/// An error at a device of place(..), with the line of the file where that has one.
static Diagnostic atOrigin(const Error &error, const symbol::Network &net) {
  Diagnostic diagnostic = asDiagnostic(error);
  for (const symbol::Setting &setting : net.place)
    if (error.place.file == setting.origin.file && error.place.line == setting.origin.line &&
        error.place.column == setting.origin.column)
      diagnostic.place = setting.origin;
  return diagnostic;
}

Checked<Model> compileNet(symbol::Network net, const std::string &path,
                          const CompileRequest &options, const ModelRequest &request) {
  CompilerMemory memory;
  LSTMC_CHECKED_ASSIGN(std::vector<package::Setting> fit, fitInForce(net.fit, options, request));
  Result<passes::CompileOptions> asked = compileOptions(net, options, request, fit);
  if (!asked.ok())
    return atOrigin(asked.error(), net);
  passes::CompileOptions compile = std::move(*asked);
  std::vector<BeginState> states;
  if (findSetting(fit, "carry"))
    states = statesOf(*net.graph);
  std::optional<Diagnostic> idle = idleInitializer(net);
  std::vector<symbol::UnknownInitialiser> unknown;
  if (!findSetting(fit, "initializer"))
    unknown = net.unknownInitialisers;
  mlir::OwningOpRef<mlir::ModuleOp> module = symbol::takeModule(*net.graph);
  Checked<passes::Compiled> compiled = planning::compile(*module, compile);
  if (compiled.ok()) {
    Diagnostics faults = checkFit(net, fit, states, compiled->package);
    if (idle)
      faults.push_back(std::move(*idle));
    if (request.findings)
      std::ranges::move(request.findings(compile, *compiled), std::back_inserter(faults));
    compiled = withFaults(std::move(compiled), std::move(faults), options.werror);
  }
  if (!compiled.ok())
    return compiled.diagnostics();
  Model model;
  model.bytes = package::serialize(compiled->package);
  Result<package::Package::Pointer> package =
      package::Package::open(model.bytes, "the package just compiled");
  if (!package.ok())
    return whyRefused(package.error(), compiled->package, compile, path, options, request);
  model.package = *package;
  model.warnings = compiled.diagnostics();
  model.compiled = std::move(*compiled);
  model.fit = fit;
  model.unknownInitialisers = std::move(unknown);
  return model;
}

Checked<mlir::OwningOpRef<mlir::ModuleOp>>
moduleAfter(const std::string &pass, symbol::Network &net, const CompileRequest &options) {
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
static Status refuseCompiled(const CompileRequest &options, std::string_view what) {
  enum class Group { Compiled, Own, Common };
  auto refuse = [&](std::string_view flag) {
    return fail(ErrorCode::E0001,
                "--{} changes what is compiled, and {} is compiled already; give the .lnet file",
                flag, what);
  };
#define LSTMC_FIELD(FIELD, NAME, LETTER, TYPE, ARGUMENT, DEFAULT, GROUP, HELP, COMMANDS)           \
  if (Group::GROUP == Group::Compiled && TYPE::given(options.FIELD))                               \
    return refuse(NAME);
#define LSTMC_INPUT LSTMC_FIELD
#define LSTMC_LAYOUT LSTMC_FIELD
#define LSTMC_MEMORY LSTMC_FIELD
#define LSTMC_NUMERICS LSTMC_FIELD
#define LSTMC_OPTIMIZER LSTMC_FIELD
#define LSTMC_PROGRAM LSTMC_FIELD
#include "frontend/driver/request.def"
#undef LSTMC_FIELD
  return {};
}

/// What flags say of the loop, on top of what the package was compiled with; the rest of fit(..) is
/// compiled.
static Status addFit(Model &model, const CompileRequest &options, std::string_view what) {
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

static Result<Model> openCheckpoint(const std::string &path, const CompileRequest &options,
                                    const ModelRequest &request) {
  LSTMC_TRY(refuseCompiled(options, "a checkpoint"));
  LSTMC_ASSIGN(lstmc::Limits limits, fileLimits(options));
  LSTMC_ASSIGN(training::FoundCheckpoint found, training::findCheckpoint(path, limits));
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

static Result<Model> openPackage(const std::string &path, const CompileRequest &options) {
  LSTMC_TRY(refuseCompiled(options, "a package"));
  Model model;
  LSTMC_ASSIGN(model.package, package::Package::open(path));
  LSTMC_TRY(addFit(model, options, "a package"));
  return model;
}

/// E0401: a package has its plan, so --mem cannot make it smaller.
static Status checkFits(const package::PackageData &package, const std::string &path,
                        const MemoryOptions &options) {
  for (const package::Device &device : package.devices)
    if (options.mem && device.arenaBytes > uint64_t(*options.mem))
      return failAt({path}, ErrorCode::E0401, "the plan needs {} on {}, which may use {}",
                    bytesText(device.arenaBytes, 2), device.name,
                    bytesText(uint64_t(*options.mem), 2));
  return {};
}

/// A source, compiled as the options say.
static Checked<Model> compileSource(const std::string &path, const CompileRequest &options,
                                    const ModelRequest &request) {
  Checked<symbol::Network> net = loadSource(path, options, request);
  if (!net.ok())
    return net.diagnostics();
  Diagnostics warnings = net.diagnostics();
  Checked<Model> model = compileNet(std::move(*net), path, options, request);
  if (!model.ok())
    return model.diagnostics();
  model->path = path;
  model->warnings.insert(model->warnings.begin(), warnings.begin(), warnings.end());
  return model;
}

Checked<Model> loadModel(const std::string &path, const CompileRequest &options,
                         const ModelRequest &request) {
  LSTMC_CHECKED_TRY(fileLimits(options));
  std::error_code error;
  if (fs::is_directory(path, error) || path.ends_with(".lstmc")) {
    LSTMC_CHECKED_ASSIGN(Model model, fs::is_directory(path, error)
                                          ? openCheckpoint(path, options, request)
                                          : openPackage(path, options));
    LSTMC_CHECKED_TRY(checkFits(model.package->data(), path, options));
    model.path = path;
    return model;
  }
  Checked<Model> model = compileSource(path, options, request);
  if (!model.ok() && model.diagnostics().front().code == ErrorCode::E0401)
    if (std::optional<Model> less =
            withLessMemory(path, options, request, [&](const CompileRequest &changed) {
              return compileSource(path, changed, request);
            }))
      return std::move(*less);
  return model;
}

} // namespace lstmc::driver
