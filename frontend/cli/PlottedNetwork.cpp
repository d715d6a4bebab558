#include "frontend/cli/PlottedNetwork.h"

#include <algorithm>

#include <fmt/ranges.h>

#include "backends/registry/Targets.h"
#include "frontend/cli/Operand.h"
#include "frontend/driver/CompileOptions.h"
#include "frontend/driver/CompilerMemory.h"
#include "frontend/driver/Layout.h"
#include "frontend/symbol/Module.h"
#include "passes/planning/Layouts.h"
#include "passes/planning/rates/MachineRates.h"
#include "viz/Network.h"
#include "viz/PackageNetwork.h"

namespace lstmc::cli {

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

/// Those that are drawn: several always, one only where that is asked for.
static Result<std::vector<std::string>> devicesToDraw(const Options &options,
                                                      const symbol::Network &net) {
  LSTMC_ASSIGN(std::vector<DeviceName> devices, devicesAsked(options, net));
  std::vector<std::string> names;
  for (const DeviceName &device : devices)
    names.push_back(device.text());
  bool asked = std::ranges::find(*options.show, "device") != options.show->end();
  return names.size() > 1 || asked ? names : std::vector<std::string>();
}

/// As --after leaves it.
static Checked<std::string> dotAfter(const std::string &pass, symbol::Network &net,
                                     const viz::NetworkOptions &drawing, const Options &options,
                                     Console &console) {
  Checked<mlir::OwningOpRef<mlir::ModuleOp>> module = moduleAfter(pass, net, options);
  if (!module.ok())
    return module.diagnostics();
  console.warn(module.diagnostics());
  if (viz::isLowered(**module) && options.unfold.given())
    return asDiagnostic(fail(ErrorCode::E0001,
                             "--unfold needs layers, and there are only launches after {}", pass));
  return viz::networkDot(**module, drawing);
}

/// As it is written; on several devices with what the passes decide of them.
static Checked<viz::Diagram> diagramOf(symbol::Network &net, viz::NetworkOptions drawing,
                                       const Options &options, Console &console) {
  if (drawing.devices.size() < 2)
    return viz::networkDiagram(*symbol::takeModule(*net.graph), drawing);
  CompilerMemory memory;
  LSTMC_CHECKED_ASSIGN(std::vector<package::Setting> fit, fitInForce(net.fit, options, {}));
  LSTMC_CHECKED_ASSIGN(passes::CompileOptions compile, compileOptions(net, options, {}, fit));
  compile.stopAfter = "sync-parameters";
  mlir::OwningOpRef<mlir::ModuleOp> asWritten = symbol::takeModule(*net.graph);
  mlir::OwningOpRef<mlir::ModuleOp> module = asWritten->clone();
  Checked<passes::Compiled> compiled = planning::compile(*module, compile);
  if (!compiled.ok())
    return compiled.diagnostics();
  console.warn(compiled.diagnostics());
  const viz::DevicePlacement placement = viz::placementOf(*module);
  drawing.placement = &placement;
  return viz::networkDiagram(*asWritten, drawing);
}

/// Of a package or a checkpoint.
static Checked<viz::Diagram> diagramOfPackage(viz::NetworkOptions drawing, const Options &options) {
  for (Flag flag : {Flag::unfold, Flag::afterPass})
    if (options.isGiven(flag))
      return asDiagnostic(fail(ErrorCode::E0001,
                               "--{} needs the source: {} holds launches and no layers",
                               recordOf(flag).name, options.operands[0]));
  LSTMC_CHECKED_ASSIGN(Model model, loadModel(options, {}));
  if (std::ranges::find(*options.show, "device") != options.show->end())
    drawing.devices = {""};
  return viz::packageDiagram(model.package->data(), drawing);
}

Checked<PlottedNetwork> networkAsked(const Options &options, Console &console) {
  LSTMC_CHECKED_ASSIGN(viz::NetworkOptions drawing, drawingAsked(options));
  LSTMC_CHECKED_TRY(checkOneModel(options));
  if (!isSource(options.operands[0])) {
    LSTMC_CHECKED_ASSIGN(viz::Diagram diagram, diagramOfPackage(drawing, options));
    return PlottedNetwork{std::move(diagram), ""};
  }
  Checked<symbol::Network> net = loadSource(options.operands[0], options);
  if (!net.ok())
    return net.diagnostics();
  console.warn(net.diagnostics());
  LSTMC_CHECKED_ASSIGN(drawing.devices, devicesToDraw(options, *net));
  if (options.afterPass) {
    LSTMC_CHECKED_ASSIGN(std::string dot,
                         dotAfter(*options.afterPass, *net, drawing, options, console));
    return PlottedNetwork{{}, std::move(dot)};
  }
  LSTMC_CHECKED_ASSIGN(viz::Diagram diagram, diagramOf(*net, drawing, options, console));
  return PlottedNetwork{std::move(diagram), ""};
}

} // namespace lstmc::cli
