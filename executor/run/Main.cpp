// lstmc-run: does what `lstmc run` does, without the compiler.
#include <charconv>
#include <filesystem>
#include <new>
#include <optional>
#include <string>
#include <string_view>
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
#include "executor/session/Session.h"
#include "executor/session/Values.h"
#include "executor/training/Checkpoint.h"

namespace lstmc {
namespace {

constexpr std::string_view kHelp =
    "usage: lstmc-run MODEL -i NAME=VALUE ... [options]\n"
    "\n"
    "Runs a package (F.lstmc) or a checkpoint folder once on given inputs.\n"
    "\n"
    "  -i, --input NAME=VALUE   @x.npy, @x.npz, 32x35xi32=0, 32x8xf32=random:7, a number\n"
    "  -o, --output FILE.npz    outputs, or FILE.npy of one; - is stdout; without it their first "
    "values are printed\n"
    "      --params PATH        weights: safetensors, npz, a checkpoint; else F.safetensors beside "
    "F.lstmc\n"
    "      --entry NAME         entry point (forward)\n"
    "  -d, --devices LIST       cpu, 4xcpu, cpu:0,2; else those of the package\n"
    "  -t, --threads N          threads per device; results do not depend on it\n"
    "      --seed N             of initial values, where no weights are given (0)\n"
    "      --check-nan          stop at the first value that is not finite\n"
    "  -y, --force              overwrite\n"
    "  -h, --help               this text\n";

struct Arguments {
  std::string model, output, params, entry = "forward", devices;
  std::vector<std::string> inputs;
  int threads = 0;
  uint64_t seed = 0;
  bool checkNan = false, force = false, help = false;
};

template <typename T> Status readNumber(std::string_view flag, std::string_view text, T &to) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to);
  if (text.empty() || error != std::errc() || end != text.data() + text.size())
    return fail(ErrorCode::E0001, "{}: found \"{}\", want a number", flag, text);
  return {};
}

Result<Arguments> parseArguments(int count, char **words) {
  Arguments arguments;
  for (int i = 1; i < count; ++i) {
    std::string word = words[i];
    std::optional<std::string> attached;
    if (size_t equals = word.find('='); word.starts_with("--") && equals != std::string::npos) {
      attached = word.substr(equals + 1);
      word.resize(equals);
    }
    auto value = [&]() -> Result<std::string> {
      if (attached)
        return *attached;
      if (i + 1 >= count)
        return fail(ErrorCode::E0001, "{} needs a value", word);
      return std::string(words[++i]);
    };
    auto text = [&](std::string &to) -> Status {
      LSTMC_ASSIGN(to, value());
      return {};
    };
    Status status;
    if (word == "-i" || word == "--input")
      status = text(arguments.inputs.emplace_back());
    else if (word == "-o" || word == "--output")
      status = text(arguments.output);
    else if (word == "--params")
      status = text(arguments.params);
    else if (word == "--entry")
      status = text(arguments.entry);
    else if (word == "-d" || word == "--devices")
      status = text(arguments.devices);
    else if (word == "-t" || word == "--threads" || word == "--seed") {
      std::string number;
      status = text(number);
      if (status.ok())
        status = word == "--seed" ? readNumber(word, number, arguments.seed)
                                  : readNumber(word, number, arguments.threads);
      if (status.ok() && (arguments.threads < 0 || arguments.threads > 1024))
        status = fail(ErrorCode::E0001, "{}: found {}, want 1 to 1024", word, number);
    } else if (word == "--check-nan")
      arguments.checkNan = true;
    else if (word == "-y" || word == "--force")
      arguments.force = true;
    else if (word == "-h" || word == "--help")
      arguments.help = true;
    else if (word.starts_with('-') || !arguments.model.empty())
      status = fail(ErrorCode::E0001,
                    "\"{}\": found a flag or operand that lstmc-run does not have", word);
    else
      arguments.model = word;
    if (!status.ok())
      return status.error();
  }
  if (!arguments.help && arguments.model.empty())
    return fail(ErrorCode::E0001, "found no MODEL, want a package or a checkpoint folder");
  return arguments;
}

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

/// Binds weights: from --params, else from the checkpoint, else from the file beside the package,
/// else initial values from the seed.
Status bindWeights(Session &session, const Arguments &arguments, const Model &model) {
  std::error_code error;
  std::string beside =
      std::filesystem::path(arguments.model).replace_extension(".safetensors").string();
  if (std::filesystem::is_directory(arguments.params, error)) {
    LSTMC_ASSIGN(training::FoundCheckpoint found, training::findCheckpoint(arguments.params));
    return session::bindWeights(session, found.checkpoint.model);
  }
  if (!arguments.params.empty())
    return session::bindWeights(session, arguments.params);
  if (model.checkpoint)
    return session::bindWeights(session, model.checkpoint->model);
  if (std::filesystem::exists(beside, error))
    return session::bindWeights(session, beside);
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

Status run(const Arguments &arguments) {
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

} // namespace
} // namespace lstmc

int main(int count, char **words) try {
  using namespace lstmc;
  prepareStandardStreams();
  exitOnTerminate();
  Result<Arguments> arguments = parseArguments(count, words);
  Status status = arguments.status();
  if (status.ok() && arguments->help)
    writeOutput(kHelp);
  else if (status.ok())
    status = run(*arguments);
  if (status.ok())
    status = outputStatus();
  if (status.ok())
    return int(ExitCode::Ok);
  writeMessage(escaped(status.error().text(), true) + "\n");
  return int(errorRecord(status.error().code).exit);
} catch (const std::bad_alloc &) {
  lstmc::exitOutOfMemory();
}
