// sample: a language model writes text, a symbol at a time, states carried.

#include <unistd.h>

#include "executor/base/Escape.h"
#include "executor/base/OutputFile.h"
#include "executor/base/StandardStreams.h"
#include "executor/training/Sampling.h"
#include "executor/training/Signals.h"
#include "frontend/cli/Commands.h"
#include "frontend/cli/Operand.h"
#include "frontend/driver/Data.h"
#include "frontend/driver/SettingText.h"

namespace lstmc::cli {

namespace {

/// The data inputs of `forward`, each cut to one element.
std::vector<symbol::InputShape> oneSymbol(const package::PackageData &data) {
  std::vector<symbol::InputShape> shapes;
  for (const package::Entry &entry : data.entries)
    if (entry.name == "forward")
      for (const package::Binding &input : entry.inputs)
        if (input.role == "data")
          shapes.push_back(
              {input.name, std::vector<int64_t>(data.buffers[input.buffer].shape.size(), 1), {}});
  return shapes;
}

/// What writes, and in which symbols.
struct Writer {
  Model model;
  data::Learned learned; ///< has a vocabulary

  /// Checkpoints of old do not say the unit, and the file may.
  data::TextUnit unit() const {
    std::string ofFile = findSetting(model.package->data().data, "unit").value_or("char");
    return learned.unit.value_or(data::parseTextUnit(ofFile).value_or(data::TextUnit::Char));
  }
};

/// Of data `sample` reads the vocabulary alone.
Status checkNoData(const data::Learned &learned, const Options &options) {
  if (!options.data || !learned.vocabulary)
    return {};
  return fail(ErrorCode::E0001, "--data is not read: the checkpoint has its vocabulary");
}

/// What the checkpoint of --params learned, else what the data of a source have.
Checked<data::Learned> learnedFor(const Options &options) {
  const std::string &path = options.operands[0];
  LSTMC_CHECKED_ASSIGN(symbol::Network net, loadSource(path, options));
  LSTMC_CHECKED_ASSIGN(std::optional<data::Learned> learned, learnedFromParams(options));
  if (learned && learned->vocabulary) {
    LSTMC_CHECKED_TRY(checkNoData(*learned, options));
    return std::move(*learned);
  }
  LSTMC_CHECKED_ASSIGN(ModelData data, loadData(options, {.job = "sample"}, settingTexts(net.data),
                                                {path, ""}, nullptr));
  return data.data->learned();
}

/// A source is compiled for one sequence of one step; to know its inputs, it is compiled as written
/// first.
Checked<Writer> compileWriter(const Options &options) {
  Writer writer;
  LSTMC_CHECKED_ASSIGN(writer.learned, learnedFor(options));
  ModelRequest request;
  request.entries = {"forward"};
  request.carry = {"*"};
  if (writer.learned.vocabulary)
    request.offeredVocab = int64_t(writer.learned.vocabulary->size());
  LSTMC_CHECKED_ASSIGN(Model asWritten, loadModel(options, request));
  request.shapes = oneSymbol(asWritten.package->data());
  LSTMC_CHECKED_ASSIGN(writer.model, loadModel(options, request));
  return writer;
}

Checked<Writer> loadWriter(const Options &options) {
  LSTMC_CHECKED_TRY(checkOneModel(options));
  if (isSource(options.operands[0]))
    return compileWriter(options);
  Writer writer;
  ModelRequest request;
  request.attachment = "sample.lstmc";
  LSTMC_CHECKED_ASSIGN(writer.model, loadModel(options, request));
  if (writer.model.checkpoint) {
    LSTMC_CHECKED_ASSIGN(writer.learned, learnedFrom(*writer.model.checkpoint));
  }
  LSTMC_CHECKED_TRY(checkNoData(writer.learned, options));
  return writer;
}

/// Writes to --output or stdout, and with --json the document at the end.
Status writeText(const Writer &writer, Session &session, const training::Sampling &sampling,
                 const Options &options, Console &console) {
  std::optional<OutputFile> file;
  if (options.output && *options.output != "-") {
    LSTMC_ASSIGN(OutputFile made, OutputFile::create(*options.output, options.existing()));
    file.emplace(std::move(made));
  }
  std::string all;
  const bool terminal = ::isatty(STDOUT_FILENO) != 0; // which would obey what a net has learned
  auto take = [&](std::string_view piece) -> Status {
    if (console.json())
      all += piece;
    if (file)
      return file->write(piece);
    if (!console.json())
      writeOutput(terminal ? escaped(piece, true) : piece);
    return {};
  };
  // Until a signal comes or nobody reads the text any more.
  auto goesOn = [] { return training::SignalWatch::pending() == 0 && outputHasReader(); };
  LSTMC_ASSIGN(int64_t symbols, training::sampleText(session, *writer.learned.vocabulary,
                                                     writer.unit(), sampling, take, goesOn));
  if (console.json())
    console.print(nlohmann::ordered_json{{"schema", "lstmc.sample/1"},
                                         {"text", all},
                                         {"symbols", symbols},
                                         {"seed", sampling.seed}});
  else if (!file)
    console.write("\n");
  return file ? file->commit() : Status();
}

} // namespace

CommandResult sampleCommand(const Options &options, Console &console) {
  training::Sampling sampling;
  sampling.prime = *options.prime;
  sampling.length = *options.length;
  sampling.topK = *options.topK;
  sampling.temperature = *options.temperature;
  if (sampling.temperature < 0)
    return fail(ErrorCode::E0001, "--temperature takes a number from 0, got {}",
                sampling.temperature);
  LSTMC_CHECKED_ASSIGN(Writer writer, loadWriter(options));
  console.warn(writer.model.warnings);
  if (!writer.learned.vocabulary)
    return fail(ErrorCode::E0001,
                "sample needs a vocabulary: give a checkpoint, or --data text:FILE");
  LSTMC_CHECKED_ASSIGN(std::unique_ptr<Session> session,
                       openSession(writer.model, options, {"forward"}));
  LSTMC_CHECKED_ASSIGN(sampling.seed, seedInForce(writer.model, options));
  console.say(fmt::format("seed {}", sampling.seed));
  if (options.dryRun)
    return ExitCode::Ok;
  training::SignalWatch watch; // what is there by then is kept
  LSTMC_CHECKED_TRY(writeText(writer, *session, sampling, options, console));
  LSTMC_CHECKED_ASSIGN(Diagnostics outside, session->indexWarning());
  console.warn(outside);
  return ExitCode(training::SignalWatch::exitCode());
}

} // namespace lstmc::cli
