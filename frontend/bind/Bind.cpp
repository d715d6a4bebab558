#include "frontend/bind/Bind.h"

#include <algorithm>

#include <fmt/ranges.h>

#include "backends/registry/Devices.h"
#include "frontend/symbol/Module.h"
#include "passes/planning/Layouts.h"

namespace lstmc::symbol {

static Diagnostics diagnosticsOf(const Error &error) {
  Diagnostic diagnostic;
  diagnostic.code = error.code;
  diagnostic.message = error.message;
  return {diagnostic};
}

static Result<passes::CompileOptions> compileOptions(const BindOptions &options) {
  passes::CompileOptions compile;
  compile.devices = options.contexts;
  for (const auto &[group, context] : options.groupToContext) {
    if (std::find(options.contexts.begin(), options.contexts.end(), context) ==
        options.contexts.end())
      return fail(ErrorCode::E0001, "group \"{}\" is on {}, which is not among the contexts, {}",
                  group, context, fmt::join(options.contexts, ", "));
    compile.place.emplace_back(group, context);
  }
  compile.workLoads = options.workLoads;
  compile.entries = options.entries;
  compile.carry = options.carry;
  compile.valuesGiven = true;
  compile.optimizer = {.name = options.optimizer, .keys = options.optimizerKeys, .wd = options.wd};
  return compile;
}

static Result<std::unique_ptr<Session>> open(const package::PackageData &data,
                                             const BindOptions &options) {
  LSTMC_ASSIGN(auto package, package::Package::open(package::serialize(data), "bind"));
  LSTMC_ASSIGN(std::vector<DeviceName> names,
               parseDevices(fmt::format("{}", fmt::join(options.contexts, ","))));
  LSTMC_ASSIGN(auto devices, makeDevices(names, {.threads = options.threads}));
  LSTMC_ASSIGN(auto session, Session::create(package, std::move(devices), {.seed = options.seed}));
  LSTMC_TRY(session->initialise(options.seed));
  return session;
}

Checked<std::unique_ptr<Session>> bind(Graph &graph, const BindOptions &options) {
  Result<passes::CompileOptions> compile = compileOptions(options);
  if (!compile.ok())
    return diagnosticsOf(compile.error());
  mlir::OwningOpRef<mlir::ModuleOp> module = takeModule(graph);
  Checked<passes::Compiled> compiled = planning::compile(*module, *compile);
  if (!compiled.ok())
    return compiled.diagnostics();
  Result<std::unique_ptr<Session>> session = open(compiled->package, options);
  if (!session.ok())
    return diagnosticsOf(session.error());
  return {std::move(*session), compiled.diagnostics()};
}

} // namespace lstmc::symbol
