// import: a symbol.json, or weights that were trained elsewhere, become a network and its weights.

#include <filesystem>

#include "executor/base/Quote.h"
#include "executor/data/ArrayFile.h"
#include "frontend/cli/Commands.h"
#include "frontend/cli/Compile.h"
#include "frontend/importers/Importer.h"
#include "frontend/lnet/Emit.h"
#include "frontend/lnet/format/Format.h"
#include "frontend/symbol/View.h"

namespace lstmc::cli {

namespace {

/// Where what is imported goes: F.lnet, F.weights.safetensors, and F.lstmc where that is asked for.
struct Outputs {
  std::string network;
  std::string weights; ///< empty: there are none
  std::optional<std::string> package;
};

Result<Outputs> outputsOf(const std::string &output) {
  for (std::string_view suffix : {".lnet", ".lstmc"})
    if (output.size() > suffix.size() && output.ends_with(suffix)) {
      std::string base = output.substr(0, output.size() - suffix.size());
      Outputs outputs{base + ".lnet", base + ".weights.safetensors", {}};
      if (suffix == ".lstmc")
        outputs.package = output;
      return outputs;
    }
  return fail(ErrorCode::E0001, "import writes F.lnet or F.lstmc, got -o {}", output);
}

/// What `compile` is asked for to make the package of the network, which says its shapes.
Options toCompile(const Outputs &outputs, const Options &options) {
  Options compile = options;
  compile.params.reset();
  compile.shape.clear();
  compile.batch.values.clear();
  compile.command = CommandId::Compile;
  compile.output = *outputs.package;
  compile.operands = {outputs.network};
  return compile;
}

using importers::Imported;

nlohmann::ordered_json documentOf(const Outputs &outputs, const Imported &imported) {
  nlohmann::ordered_json document = {{"schema", "lstmc.import/1"}, {"network", outputs.network}};
  if (!outputs.weights.empty())
    document["weights"] = outputs.weights;
  document["modules"] = imported.modules;
  document["assumptions"] = imported.assumptions;
  document["warnings"] = imported.warnings;
  if (outputs.package)
    document["package"] = *outputs.package;
  return document;
}

CommandResult write(const Outputs &outputs, Imported imported, const Options &options,
                    Console &console) {
  std::string line = outputs.network;
  if (!outputs.weights.empty())
    line += "  " + outputs.weights;
  if (!options.dryRun) {
    LSTMC_CHECKED_TRY(
        importers::write(imported, outputs.network, outputs.weights, options.existing()));
    if (outputs.package) {
      Options compile = toCompile(outputs, options);
      Trace trace(compile);
      LSTMC_CHECKED_ASSIGN(Model model, compilePackage(compile, trace, console));
      line = packageLine(model, compile);
    }
  }
  if (console.json())
    console.print(documentOf(outputs, imported));
  else
    console.print(line);
  return ExitCode::Ok;
}

/// E0001 for a flag that changes nothing of what is imported.
Status refuseFlags(const Options &options, std::initializer_list<Flag> flags,
                   std::string_view what) {
  for (Flag flag : flags)
    if (options.isGiven(flag))
      return fail(ErrorCode::E0001, "--{} has no effect here: {}", recordOf(flag).name, what);
  return {};
}

//===---- a network of another program --------------------------------------------------------===//

/// The arrays of the network's parameters in the file of --params. E0610 for one that is missing or
/// has another shape or type.
Result<std::vector<data::NamedArray>> weightsOf(const symbol::Graph &graph, const std::string &path,
                                                const lstmc::Limits &limits) {
  LSTMC_ASSIGN(data::ArrayFile::Pointer file, data::ArrayFile::load(path, limits));
  std::vector<data::NamedArray> weights;
  for (const symbol::NodeView &node : symbol::view(graph).nodes) {
    if (node.kind != symbol::NodeView::Kind::Variable)
      continue;
    std::optional<data::Array> array = file->find(node.name);
    if (!array)
      return failAt({path}, ErrorCode::E0610,
                    "parameter \"{}\": found no tensor of that name, want one", node.name);
    std::vector<int64_t> shape;
    for (const symbol::Dim &dim : node.shape.dims)
      shape.push_back(dim.extent);
    if (array->dtype != node.dtype || array->shape != shape)
      return failAt({path}, ErrorCode::E0610, "parameter \"{}\": found {}{}, want {}{}", node.name,
                    dtypeName(array->dtype), data::shapeText(array->shape), dtypeName(node.dtype),
                    data::shapeText(shape));
    weights.push_back({node.name, std::move(*array)});
  }
  return weights;
}

/// Imports a source that leaves its shapes open.
CommandResult importSource(Outputs outputs, const Options &options, Console &console) {
  LSTMC_CHECKED_TRY(
      refuseFlags(options, {Flag::as, Flag::modules}, "it belongs to weights without a network"));
  Checked<symbol::Network> net = loadSource(options.operands[0], options);
  if (!net.ok())
    return net.diagnostics();
  console.warn(net.diagnostics());
  Imported imported;
  if (options.params) {
    LSTMC_CHECKED_ASSIGN(lstmc::Limits limits, fileLimits(options));
    LSTMC_CHECKED_ASSIGN(imported.tensors, weightsOf(*net->graph, *options.params, limits));
  } else {
    outputs.weights.clear();
  }
  for (const Diagnostic &warning : net.diagnostics())
    imported.warnings.push_back(warning.message);
  const std::string text = importers::originLine(options.operands[0], {}) +
                           lnet::emitLnet(*net->graph, net->fit, net->data, net->place);
  LSTMC_CHECKED_ASSIGN(imported.text, lnet::format(outputs.network, text));
  return write(outputs, std::move(imported), options, console);
}

//===---- weights without a network -----------------------------------------------------------===//

/// --layout of weights without a network: that of their one input.
Result<bool> batchFirst(const Options &options) {
  for (const std::string &layout : options.layout)
    if (layout != "NTC" && layout != "TNC")
      return fail(ErrorCode::E0001, "--layout takes one of NTC, TNC, got {}", inQuotes(layout));
  return options.layout.empty() || options.layout.back() == "NTC";
}

CommandResult importWeights(const Outputs &outputs, const Options &options, Console &console) {
  LSTMC_CHECKED_TRY(refuseFlags(options, {Flag::params, Flag::shape, Flag::batch},
                                "it belongs to a network, such as a symbol.json"));
  LSTMC_CHECKED_ASSIGN(const bool isBatchFirst, batchFirst(options));
  importers::ImportRequest request;
  LSTMC_CHECKED_ASSIGN(request.limits, fileLimits(options));
  request.rule = options.as;
  request.modules = *options.modules;
  request.batchFirst = isBatchFirst;
  LSTMC_CHECKED_ASSIGN(Imported imported,
                       importers::readWeights({options.operands[0], {}}, request));
  for (const std::string &module : imported.modules)
    console.say(module);
  for (const std::string &assumption : imported.assumptions)
    console.say("assumed: " + assumption);
  for (const std::string &warning : imported.warnings)
    console.say("warning: " + warning);
  return write(outputs, std::move(imported), options, console);
}

} // namespace

CommandResult importCommand(const Options &options, Console &console) {
  if (options.operands.size() != 1)
    return fail(ErrorCode::E0001, "import takes one FILE, got {}", options.operands.size());
  const bool isNetwork = leavesShapesOpen(options.operands[0]);
  if (!options.output || (!options.as && !isNetwork))
    return fail(ErrorCode::E0001, "import needs {}",
                options.as || isNetwork
                    ? "-o F.lnet or -o F.lstmc"
                    : "--as, what the weights are of: torch-lstm, torch-gru, torch-rnn, "
                      "torch-rnn-relu, keras-lstm, keras-gru, keras-rnn or tf-lstm");
  LSTMC_CHECKED_ASSIGN(Outputs outputs, outputsOf(*options.output));
  return isNetwork ? importSource(outputs, options, console)
                   : importWeights(outputs, options, console);
}

} // namespace lstmc::cli
