// import: weights that were trained elsewhere become a network and its weights.

#include <filesystem>

#include "executor/base/Escape.h"
#include "executor/base/OutputFile.h"
#include "executor/data/SafeTensors.h"
#include "frontend/cli/Commands.h"
#include "frontend/cli/Compile.h"
#include "frontend/keras/StateDict.h"
#include "frontend/lnet/format/Format.h"
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

/// What `compile` is asked for to make the package of the network.
Options toCompile(const Outputs &outputs, const Options &options) {
  Options compile = options;
  compile.command = CommandId::Compile;
  compile.output = *outputs.package;
  compile.operands = {outputs.network};
  return compile;
}

nlohmann::ordered_json documentOf(const Outputs &outputs, const torch::Imported &imported) {
  nlohmann::ordered_json document = {
      {"schema", "lstmc.import/1"},          {"network", outputs.network},
      {"weights", outputs.weights},          {"modules", imported.modules},
      {"assumptions", imported.assumptions}, {"warnings", imported.warnings}};
  if (outputs.package)
    document["package"] = *outputs.package;
  return document;
}

/// The network as text in the one style, with a line that says where it is from.
Checked<std::string> networkText(const torch::Imported &imported, const Outputs &outputs,
                                 const Options &options) {
  std::string text =
      fmt::format("# {}, brought in by: lstmc import --as {}\n{}",
                  escaped(std::filesystem::path(options.operands[0]).filename().string()),
                  wordOf(*options.as), imported.text);
  return lnet::format(outputs.network, text);
}

} // namespace

CommandResult importCommand(const Options &options, Console &console) {
  if (options.operands.size() != 1)
    return fail(ErrorCode::E0001, "import takes one FILE, got {}", options.operands.size());
  if (!options.as || !options.output)
    return fail(ErrorCode::E0001, "import needs {}",
                options.as ? "-o F.lnet or -o F.lstmc"
                           : "--as, what the weights are of: torch-lstm, torch-gru, torch-rnn, "
                             "torch-rnn-relu, keras-lstm, keras-gru, keras-rnn or tf-lstm");
  LSTMC_CHECKED_ASSIGN(Outputs outputs, outputsOf(*options.output));
  LSTMC_CHECKED_ASSIGN(data::SafeTensors file, data::SafeTensors::load(options.operands[0]));
  torch::ImportRequest request = {.recurrence = recurrenceOf(*options.as),
                                  .order = *options.modules,
                                  .batchFirst = *options.layout == InputLayout::BatchFirst};
  if (std::optional<keras::Source> source = kerasSource(*options.as)) {
    request.assumptions = keras::assumptions(file, *source);
    LSTMC_CHECKED_ASSIGN(file, keras::asStateDict(file, *source));
    request.layerNormEpsilon = keras::kLayerNormEpsilon;
  }
  LSTMC_CHECKED_ASSIGN(torch::Imported imported, torch::importStateDict(file, request));
  LSTMC_CHECKED_ASSIGN(std::string text, networkText(imported, outputs, options));

  for (const std::string &module : imported.modules)
    console.say(module);
  for (const std::string &assumption : imported.assumptions)
    console.say("assumed: " + assumption);
  for (const std::string &warning : imported.warnings)
    console.say("warning: " + warning);
  std::string line = fmt::format("{}  {}", outputs.network, outputs.weights);
  if (!options.dryRun) {
    LSTMC_CHECKED_TRY(writeFile(outputs.network, text, options.existing()));
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

} // namespace lstmc::cli
