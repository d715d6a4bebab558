// export: a network and its weights as files of another program.

#include "frontend/cli/Commands.h"
#include "frontend/cli/ModelFiles.h"
#include "frontend/cli/Operand.h"

namespace lstmc::cli {

namespace {

/// What --params brings, else the initial values.
Status exportWeights(const Model &model, const std::string &path, const Options &options) {
  LSTMC_ASSIGN(std::unique_ptr<Session> session, openSession(model, options));
  std::vector<data::NamedTensor> weights;
  for (const package::Parameter &parameter : model.package->data().parameters) {
    LSTMC_ASSIGN(Tensor tensor, session->parameter(parameter.name));
    weights.push_back({parameter.name, tensor});
  }
  return writeWeights(path, model.package->data(), weights, options.existing());
}

Status checkAsked(const Options &options) {
  LSTMC_TRY(checkOneModel(options));
  if (!options.exportForm)
    return fail(ErrorCode::E0001, "export needs --to mxnet, the program that is to read the files");
  if (!options.output || options.output == "-")
    return fail(ErrorCode::E0001, "export writes PREFIX-symbol.json and PREFIX-0000.params: "
                                  "-o PREFIX");
  if (!isSource(options.operands[0]))
    return fail(ErrorCode::E0001,
                "export takes a network, and {} is compiled already: give the source, with "
                "--params {}",
                options.operands[0], options.operands[0]);
  return {};
}

} // namespace

CommandResult exportCommand(const Options &options, Console &console) {
  LSTMC_CHECKED_TRY(checkAsked(options));
  Checked<symbol::Network> net = loadSource(options.operands[0], options);
  if (!net.ok())
    return net.diagnostics();
  console.warn(net.diagnostics());
  LSTMC_CHECKED_ASSIGN(Model model, loadModel(options, {}));
  const std::string symbol = symbolFile(*options.output), weights = weightsFile(*options.output, 0);
  std::vector<std::string> warnings;
  if (!options.dryRun) {
    LSTMC_CHECKED_ASSIGN(warnings, writeNetwork(*options.output, *net, options.existing()));
    LSTMC_CHECKED_TRY(exportWeights(model, weights, options));
  }
  for (const std::string &warning : warnings)
    console.say("warning: " + warning);
  if (console.json())
    console.print(nlohmann::ordered_json{{"schema", "lstmc.export/1"},
                                         {"network", symbol},
                                         {"weights", weights},
                                         {"warnings", warnings}});
  else
    console.print(symbol + "  " + weights);
  return ExitCode::Ok;
}

} // namespace lstmc::cli
