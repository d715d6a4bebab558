// lstmc-run: does what `lstmc run` does, without the compiler.
#include <filesystem>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include <unistd.h>

#include "backends/registry/Devices.h"
#include "executor/base/Escape.h"
#include "executor/base/InputFile.h"
#include "executor/base/OutputFile.h"
#include "executor/base/StandardStreams.h"
#include "executor/base/Termination.h"
#include "executor/data/Npz.h"
#include "executor/package/Plan.h"
#include "executor/run/Arguments.h"
#include "executor/session/NonFinite.h"
#include "executor/session/Session.h"
#include "executor/session/Values.h"
#include "executor/session/WhyNotFinite.h"
#include "executor/training/Checkpoint.h"
#include "executor/training/EndOnSignals.h"
#include "executor/training/KeptStates.h"

namespace lstmc {
namespace {

using run::Arguments;

struct Model {
  package::Package::Pointer package;
  std::optional<training::Checkpoint> checkpoint;
};

Result<Model> openModel(const std::string &path) {
  std::error_code error;
  Model model;
  if (!std::filesystem::is_directory(path, error)) {
    LSTMC_ASSIGN(model.package, package::Package::open(path));
    return model;
  }
  LSTMC_ASSIGN(training::FoundCheckpoint found, training::findCheckpoint(path));
  auto attached = found.checkpoint.attachments.find("model.lstmc");
  if (attached == found.checkpoint.attachments.end())
    return failAt({found.checkpoint.folder}, ErrorCode::E0610,
                  "checkpoint: found no model.lstmc, want one");
  LSTMC_ASSIGN(model.package,
               package::Package::open(attached->second, found.checkpoint.folder + "/model.lstmc"));
  model.checkpoint = std::move(found.checkpoint);
  return model;
}

/// F.safetensors of a package F.lstmc.
std::string weightsBeside(const Arguments &arguments) {
  return std::filesystem::path(arguments.model).replace_extension(".safetensors").string();
}

bool hasWeights(const Arguments &arguments, const Model &model) {
  std::error_code error;
  return !arguments.params.empty() || model.checkpoint ||
         std::filesystem::exists(weightsBeside(arguments), error);
}

/// Binds weights: from --params, else from the checkpoint, else from the file beside the package,
/// else initial values from the seed.
Status bindWeights(Session &session, const Arguments &arguments, const Model &model) {
  std::error_code error;
  if (std::filesystem::is_directory(arguments.params, error)) {
    LSTMC_ASSIGN(training::FoundCheckpoint found, training::findCheckpoint(arguments.params));
    return session::bindWeights(session, found.checkpoint.model);
  }
  if (!arguments.params.empty())
    return session::bindWeights(session, arguments.params);
  if (model.checkpoint)
    return session::bindWeights(session, model.checkpoint->model);
  if (hasWeights(arguments, model))
    return session::bindWeights(session, weightsBeside(arguments));
  return session.initialise(arguments.seed);
}

/// Checks that every input is given, except scalars.
Status checkInputs(const Arguments &arguments, const package::Entry &entry) {
  for (const package::Binding &input : entry.inputs) {
    bool given = input.role == "scalar";
    for (const std::string &text : arguments.inputs)
      given |= text.starts_with(input.name + "=");
    if (!given)
      return fail(ErrorCode::E0001, "input \"{}\": found no -i for it, want one", input.name);
  }
  return {};
}

Status write(const std::vector<data::NamedTensor> &outputs, const Arguments &arguments) {
  if (arguments.output.empty()) {
    for (const data::NamedTensor &output : outputs)
      writeOutput(escaped(session::describeValue(output.name, output.tensor)) + "\n");
    return {};
  }
  if (arguments.output == "-") {
    LSTMC_ASSIGN(Bytes bytes, data::npzBytes(outputs));
    writeOutput(asText(bytes));
    return {};
  }
  LSTMC_TRY(data::writeArrays(arguments.output, outputs,
                              arguments.force ? OutputFile::Existing::Replace
                                              : OutputFile::Existing::Keep));
  writeOutput(arguments.output + "\n");
  return {};
}

/// E0701 where an output is not finite; `before`: the states of before the run.
Status checkFinite(Session &session, const std::vector<data::NamedTensor> &outputs,
                   const std::string &entry, const training::KeptStates &before) {
  for (const data::NamedTensor &output : outputs) {
    LSTMC_ASSIGN(bool found, session::hasNonFinite(session, entry, output.name));
    if (!found)
      continue;
    before.putBack();
    LSTMC_ASSIGN(Diagnostic why, session::whyNotFinite(session, entry, "in " + entry));
    return session::asError(why);
  }
  return {};
}

Status runModel(const Arguments &arguments) {
  LSTMC_ASSIGN(Model model, openModel(arguments.model));
  std::string list =
      arguments.devices.empty() ? package::deviceList(model.package->data()) : arguments.devices;
  LSTMC_ASSIGN(auto devices, makeDevices(list, {arguments.threads}));
  SessionOptions options;
  options.seed = arguments.seed;
  options.checkNan = arguments.checkNan;
  options.watch.notice = [](const Error &error) {
    writeMessage("warning: " + error.text() + "\n");
  };
  options.watch.choice = [](const std::string &choice) { writeMessage(choice + "\n"); };
  options.watch.abandon = [](const Error &error) {
    removeTemporaryFiles();
    writeMessage(error.text() + "\n");
    ::_exit(int(errorRecord(error.code).exit));
  };
  LSTMC_ASSIGN(auto session,
               Session::create(model.package, std::move(devices), std::move(options)));
  std::optional<size_t> index = model.package->findEntry(arguments.entry);
  if (!index)
    return failAt({arguments.model}, ErrorCode::E0001,
                  "entry \"{}\": the package has none of that name", arguments.entry);
  LSTMC_TRY(bindWeights(*session, arguments, model));
  LSTMC_TRY(checkInputs(arguments, model.package->data().entries[*index]));
  for (const std::string &input : arguments.inputs)
    LSTMC_TRY(session::setInput(*session, arguments.entry, input));
  const training::KeptStates before(*session);
  LSTMC_TRY(session->run(arguments.entry));
  LSTMC_ASSIGN(Diagnostics outside, session->indexWarning());
  for (const Diagnostic &warning : outside) {
    writeMessage(escaped(fmt::format("{}:{}:{}: warning: {}", warning.place.file,
                                     warning.place.line, warning.place.column, warning.message)) +
                 "\n");
    for (const Reason &reason : warning.reasons)
      writeMessage("    " + escaped(reason.text) + "\n");
  }

  std::vector<data::NamedTensor> outputs;
  for (const package::Binding &output : model.package->data().entries[*index].outputs) {
    LSTMC_ASSIGN(Tensor tensor, session->output(arguments.entry, output.name));
    outputs.push_back({output.name, tensor});
  }
  LSTMC_TRY(write(outputs, arguments));
  if (!hasWeights(arguments, model) && !model.package->data().parameters.empty())
    writeMessage(fmt::format("{} has no weights beside it, and --params gives none: these are the "
                             "initial values of seed {}\n",
                             arguments.model, arguments.seed));
  return checkFinite(*session, outputs, arguments.entry, before);
}

} // namespace
} // namespace lstmc

int main(int count, char **words) try {
  using namespace lstmc;
  prepareStandardStreams();
  exitOnTerminate();
  training::endOnSignals();
  Result<run::Arguments> arguments = run::parseArguments(count, words);
  Status status = arguments.status();
  if (status.ok() && arguments->help)
    writeOutput(run::helpText());
  else if (status.ok() && arguments->completion)
    writeOutput(run::completionOf(*arguments->completion));
  else if (status.ok())
    status = runModel(*arguments);
  if (status.ok())
    status = outputStatus();
  if (status.ok())
    return int(ExitCode::Ok);
  writeMessage(escaped(status.error().text(), true) + "\n");
  return int(errorRecord(status.error().code).exit);
} catch (const std::bad_alloc &) {
  lstmc::exitOutOfMemory();
}
