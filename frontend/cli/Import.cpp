// import: a symbol.json, or weights that were trained elsewhere, become a network and its weights.

#include <filesystem>

#include "executor/base/Escape.h"
#include "executor/base/OutputFile.h"
#include "executor/base/Quote.h"
#include "executor/data/ArrayFile.h"
#include "executor/data/SafeTensors.h"
#include "frontend/cli/Commands.h"
#include "frontend/cli/Compile.h"
#include "frontend/keras/StateDict.h"
#include "frontend/lnet/Emit.h"
#include "frontend/lnet/format/Format.h"
#include "frontend/symbol/View.h"
#include "frontend/torch/StateDict.h"

namespace lstmc::cli {

namespace {

torch::Recurrence recurrenceOf(Origin origin) {
  switch (origin) {
  case Origin::TorchLstm:
  case Origin::KerasLstm:
  case Origin::TensorFlowLstm:
    return torch::Recurrence::Lstm;
  case Origin::TorchGru:
  case Origin::KerasGru:
    return torch::Recurrence::Gru;
  case Origin::TorchRnn:
  case Origin::KerasRnn:
    return torch::Recurrence::RnnTanh;
  case Origin::TorchRnnRelu:
    break;
  }
  return torch::Recurrence::RnnRelu;
}

/// Nothing for a state_dict.
std::optional<keras::Source> kerasSource(Origin origin) {
  switch (origin) {
  case Origin::KerasLstm:
    return keras::Source::Lstm;
  case Origin::KerasGru:
    return keras::Source::Gru;
  case Origin::KerasRnn:
    return keras::Source::SimpleRnn;
  case Origin::TensorFlowLstm:
    return keras::Source::TensorFlowLstm;
  default:
    return std::nullopt;
  }
}

/// Where what is imported goes: F.lnet, F.weights.safetensors, and F.lstmc where that is asked for.
struct Outputs {
  std::string network, weights;
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

/// What import writes, whatever it read.
struct Imported {
  std::string text; ///< the network
  std::vector<data::NamedTensor> weights;
  bool hasWeights = true;
  std::vector<std::string> modules, assumptions, warnings;
};

nlohmann::ordered_json documentOf(const Outputs &outputs, const Imported &imported) {
  nlohmann::ordered_json document = {{"schema", "lstmc.import/1"}, {"network", outputs.network}};
  if (imported.hasWeights)
    document["weights"] = outputs.weights;
  document["modules"] = imported.modules;
  document["assumptions"] = imported.assumptions;
  document["warnings"] = imported.warnings;
  if (outputs.package)
    document["package"] = *outputs.package;
  return document;
}

/// A line that says where a network is from; `as`: by which words.
std::string originLine(const Options &options, std::string_view as) {
  return fmt::format("# {}, brought in by: lstmc import{}\n",
                     escaped(std::filesystem::path(options.operands[0]).filename().string()), as);
}

CommandResult write(const Outputs &outputs, const Imported &imported, const Options &options,
                    Console &console) {
  std::string line = outputs.network;
  if (imported.hasWeights)
    line += "  " + outputs.weights;
  if (!options.dryRun) {
    LSTMC_CHECKED_TRY(writeFile(outputs.network, imported.text, options.existing()));
    if (imported.hasWeights)
      LSTMC_CHECKED_TRY(
          data::writeSafeTensors(outputs.weights, imported.weights, options.existing()));
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
CommandResult importSource(const Outputs &outputs, const Options &options, Console &console) {
  LSTMC_CHECKED_TRY(
      refuseFlags(options, {Flag::as, Flag::modules}, "it belongs to weights without a network"));
  Checked<symbol::Network> net = loadSource(options.operands[0], options);
  if (!net.ok())
    return net.diagnostics();
  console.warn(net.diagnostics());
  Imported imported;
  imported.hasWeights = options.params.has_value();
  std::vector<data::NamedArray> weights;
  if (options.params) {
    LSTMC_CHECKED_ASSIGN(lstmc::Limits limits, fileLimits(options));
    LSTMC_CHECKED_ASSIGN(weights, weightsOf(*net->graph, *options.params, limits));
  }
  for (data::NamedArray &array : weights)
    imported.weights.push_back({array.name, array.array.tensor()});
  for (const Diagnostic &warning : net.diagnostics())
    imported.warnings.push_back(warning.message);
  LSTMC_CHECKED_ASSIGN(imported.text,
                       lnet::format(outputs.network, originLine(options, "") +
                                                         lnet::emitLnet(*net->graph, net->fit,
                                                                        net->data, net->place)));
  return write(outputs, imported, options, console);
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
  LSTMC_CHECKED_ASSIGN(lstmc::Limits limits, fileLimits(options));
  LSTMC_CHECKED_ASSIGN(data::SafeTensors file,
                       data::SafeTensors::load(options.operands[0], limits));
  torch::ImportRequest request = {.recurrence = recurrenceOf(*options.as),
                                  .order = *options.modules,
                                  .batchFirst = isBatchFirst};
  if (std::optional<keras::Source> source = kerasSource(*options.as)) {
    request.assumptions = keras::assumptions(file, *source);
    LSTMC_CHECKED_ASSIGN(file, keras::asStateDict(file, *source));
    request.layerNormEpsilon = keras::kLayerNormEpsilon;
  }
  LSTMC_CHECKED_ASSIGN(torch::Imported made, torch::importStateDict(file, request));
  Imported imported{.text = {},
                    .weights = {made.weights.begin(), made.weights.end()},
                    .modules = made.modules,
                    .assumptions = made.assumptions,
                    .warnings = made.warnings};
  LSTMC_CHECKED_ASSIGN(
      imported.text,
      lnet::format(outputs.network,
                   originLine(options, fmt::format(" --as {}", wordOf(*options.as))) + made.text));
  for (const std::string &module : imported.modules)
    console.say(module);
  for (const std::string &assumption : imported.assumptions)
    console.say("assumed: " + assumption);
  for (const std::string &warning : imported.warnings)
    console.say("warning: " + warning);
  return write(outputs, imported, options, console);
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
