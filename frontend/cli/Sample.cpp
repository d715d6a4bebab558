// sample: a language model writes text, a symbol at a time, states carried.

#include <algorithm>
#include <cmath>
#include <functional>

#include <unistd.h>

#include "executor/base/Escape.h"
#include "executor/base/Numeric.h"
#include "executor/base/OutputFile.h"
#include "executor/base/Philox.h"
#include "executor/base/Quote.h"
#include "executor/base/StandardStreams.h"
#include "executor/data/TokenText.h"
#include "executor/training/Signals.h"
#include "frontend/cli/Commands.h"
#include "frontend/cli/Operand.h"
#include "frontend/driver/Data.h"
#include "frontend/driver/SettingText.h"

namespace lstmc::cli {

namespace {

/// Picks a symbol from probabilities, made sharper by 1/temperature and cut to the `topK`
/// likeliest. `uniform` is in [0, 1).
int64_t pick(std::span<const float> p, double temperature, int64_t topK, double uniform) {
  std::vector<std::pair<double, int64_t>> candidates;
  for (size_t i = 0; i < p.size(); ++i)
    candidates.push_back({double(p[i]), int64_t(i)});
  std::ranges::sort(candidates, {}, [](auto &c) { return std::pair(-c.first, c.second); });
  if (topK > 0 && topK < int64_t(candidates.size()))
    candidates.resize(size_t(topK));
  if (temperature <= 0)
    return candidates.front().second;
  double sum = 0, largest = std::max(candidates.front().first, 1e-30);
  for (auto &[weight, symbol] : candidates)
    sum += weight = std::pow(weight / largest, 1 / temperature);
  double target = uniform * sum;
  for (auto &[weight, symbol] : candidates) {
    target -= weight;
    if (target < 0)
      return symbol;
  }
  return candidates.front().second;
}

class Sampler {
public:
  Sampler(Session &session, const data::Vocabulary &vocabulary)
      : session_(session), vocabulary_(vocabulary) {}

  Status open() {
    const package::PackageData &data = session_.package().data();
    std::optional<size_t> forward = session_.package().findEntry("forward");
    if (!forward)
      return fail(ErrorCode::E0610, "the model has no entry forward to sample from");
    for (const package::Binding &binding : data.entries[*forward].inputs)
      if (binding.role == "data") {
        LSTMC_ASSIGN(input_, session_.input("forward", binding.name));
      }
    if (!input_ || input_.elements() != 1)
      return fail(ErrorCode::E0610,
                  "sample needs a net of one input of one symbol, found {} elements",
                  input_ ? input_.elements() : 0);
    if (data.entries[*forward].outputs.empty())
      return fail(ErrorCode::E0610, "the model's entry forward has no output to sample from");
    LSTMC_ASSIGN(output_, session_.output("forward", data.entries[*forward].outputs[0].name));
    if (output_.elements() != int64_t(vocabulary_.size()) || output_.dtype != DType::F32)
      return fail(ErrorCode::E0610, "the net gives {} numbers, the vocabulary has {} symbols",
                  output_.elements(), vocabulary_.size());
    return {};
  }

  /// Feeds a symbol; probabilities() are then those of the next.
  Status feed(int64_t symbol) {
    writeElement(input_.data, input_.dtype, 0, symbol);
    LSTMC_TRY(session_.run("forward"));
    for (size_t i = 0; i < vocabulary_.size(); ++i)
      if (float p = probabilities()[i]; !std::isfinite(p))
        return fail(ErrorCode::E0701, "after {}: found {} as the probability of {}, want a number",
                    inQuotes(vocabulary_.symbol(size_t(symbol))), p,
                    inQuotes(vocabulary_.symbol(i)));
    return {};
  }
  std::span<const float> probabilities() const {
    return {output_.as<float>(), size_t(output_.elements())};
  }

private:
  Session &session_;
  const data::Vocabulary &vocabulary_;
  Tensor input_, output_;
};

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

struct Sampling {
  int64_t length, topK;
  double temperature;
  uint64_t seed;
};

/// The text as it is drawn: what is drawn reaches its file or stdout at once, so that a stop loses
/// nothing.
class Text {
public:
  using Sink = std::function<Status(std::string_view)>;
  explicit Text(Sink sink) : sink_(std::move(sink)) {}

  Status add(std::string_view piece) {
    if (!piece.empty())
      last_ = piece.back();
    return sink_(piece);
  }
  /// Words stand apart; a line's first one does not.
  Status addWord(std::string_view word) {
    if (word == data::kEndOfLine)
      return add("\n");
    if (last_ != '\n')
      LSTMC_TRY(add(" "));
    return add(word);
  }

private:
  Sink sink_;
  char last_ = '\n';
};

/// Draws symbols until there are `length`, a signal comes or nobody reads them any more; how many.
Result<int64_t> write(Session &session, const data::Vocabulary &vocabulary,
                      const std::string &prime, data::TextUnit unit, const Sampling &sampling,
                      Text &text) {
  Sampler sampler(session, vocabulary);
  LSTMC_TRY(sampler.open());
  session.resetStates();
  LSTMC_ASSIGN(data::TokenText tokens, data::tokenise(prime, unit, vocabulary, "--prime"));
  LSTMC_TRY(text.add(prime));
  int64_t last = vocabulary.find("\n").value_or(0);
  if (tokens.size() == 0)
    LSTMC_TRY(sampler.feed(last));
  for (int64_t i = 0; i < tokens.size(); ++i) {
    LSTMC_ASSIGN(int32_t token, tokens.at(i));
    LSTMC_TRY(sampler.feed(token));
  }
  int64_t drawn = 0;
  for (; drawn < sampling.length; ++drawn) {
    if (training::SignalWatch::pending() != 0 || !outputHasReader())
      break;
    double uniform = randomUniform(sampling.seed, uint64_t(drawn), /*ordinal=*/0, /*update=*/0);
    int64_t symbol = pick(sampler.probabilities(), sampling.temperature, sampling.topK, uniform);
    std::string_view word = vocabulary.symbol(size_t(symbol));
    LSTMC_TRY(unit == data::TextUnit::Word ? text.addWord(word) : text.add(word));
    LSTMC_TRY(sampler.feed(symbol));
  }
  return drawn;
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
Status writeText(const Writer &writer, Session &session, const Sampling &sampling,
                 const Options &options, Console &console) {
  std::optional<OutputFile> file;
  if (options.output && *options.output != "-") {
    LSTMC_ASSIGN(OutputFile made, OutputFile::create(*options.output, options.existing()));
    file.emplace(std::move(made));
  }
  std::string all;
  const bool terminal = ::isatty(STDOUT_FILENO) != 0; // which would obey what a net has learned
  Text text([&](std::string_view piece) -> Status {
    if (console.json())
      all += piece;
    if (file)
      return file->write(piece);
    if (!console.json())
      writeOutput(terminal ? escaped(piece, true) : piece);
    return {};
  });
  LSTMC_ASSIGN(int64_t symbols, write(session, *writer.learned.vocabulary, *options.prime,
                                      writer.unit(), sampling, text));
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
  Sampling sampling{*options.length, *options.topK, *options.temperature, 0};
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
