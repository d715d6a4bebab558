// predict: what a network says of every row of a data set.

#include <algorithm>
#include <chrono>

#include <fmt/ranges.h>

#include "executor/base/StandardStreams.h"
#include "executor/training/Predict.h"
#include "executor/training/Signals.h"
#include "executor/training/TrainReport.h"
#include "frontend/cli/Commands.h"
#include "frontend/cli/IdleFlags.h"
#include "frontend/cli/Operand.h"
#include "frontend/cli/PredictionFile.h"
#include "frontend/cli/Progress.h"
#include "frontend/cli/Trace.h"
#include "frontend/driver/Data.h"
#include "frontend/driver/FitCheck.h"

namespace lstmc::cli {

namespace {

constexpr std::string_view kEntry = "forward";

/// What predicts, and for what. A member may point to one before it.
struct Job {
  Model model;
  ModelData data;
  std::unique_ptr<Session> session;
  training::Prediction prediction;
  std::vector<PredictedOutput> outputs;

  const data::Samples &samples() const { return prediction.samples; }

  const package::Entry &entry() const {
    const package::Package &package = *model.package;
    return package.data().entries[*package.findEntry(kEntry)];
  }
  bool isText() const { return samples().symbols > 0; }
  /// Lines that are data: steps of a text's last window are not.
  int64_t linesOf(int64_t sample) const {
    int64_t steps = outputs[0].steps();
    return isText() ? std::min(steps, samples().symbols - sample * steps) : steps;
  }
  int64_t lines() const {
    return isText() ? samples().symbols : samples().count * outputs[0].steps();
  }
};

/// `evaluate` says what the outputs are, if there is a loss.
Checked<Model> compile(NamedModel named, const ModelData &data, const Options &options) {
  ModelRequest request;
  request.entries = {std::string(kEntry), "evaluate"};
  request.findings = idleFlagsIn(options);
  bool isSource = !named.model;
  Checked<Model> model = modelFor(std::move(named), options.operands[0], data, options, request);
  if (model.ok() || !isSource || model.diagnostics().front().code != ErrorCode::E0403)
    return model;
  request.entries = {std::string(kEntry)};
  return modelFor(NamedModel(), options.operands[0], data, options, request);
}

/// What measures an output; null where it is no loss head.
const training::Head *headOf(const std::vector<training::Head> &heads, const std::string &output) {
  auto found = std::ranges::find(heads, output + "_metric", &training::Head::name);
  return found == heads.end() ? nullptr : &*found;
}

/// The axis of a text's steps in an output, named as in the input; the second where no axis of
/// either has a name.
int stepAxisOf(const package::Binding &input, const package::Binding &output,
               const package::PackageData &data) {
  for (const std::string &dim : input.dims)
    if (dim != "batch" && training::axisNamed(output, dim) >= 0)
      return training::axisNamed(output, dim);
  const std::vector<int64_t> &in = data.buffers[input.buffer].shape;
  const std::vector<int64_t> &out = data.buffers[output.buffer].shape;
  bool unnamed = input.dims.empty() && output.dims.empty();
  return unnamed && in.size() == 2 && out.size() > 1 && in[1] == out[1] ? 1 : -1;
}

/// The names of an output's values: --labels, else the symbols of the vocabulary or the column.
Result<std::vector<std::string>> classesOf(const PredictedOutput &output, bool softmax,
                                           const Job &job, const Options &options) {
  std::vector<std::string> names;
  if (options.labels) {
    LSTMC_ASSIGN(lstmc::Limits limits, fileLimits(options));
    LSTMC_ASSIGN(data::Vocabulary labels, data::Vocabulary::load(*options.labels, limits));
    for (size_t i = 0; i < labels.size(); ++i)
      names.push_back(labels.line(i));
    if (int64_t(names.size()) != output.width())
      return failAt({*options.labels}, ErrorCode::E0610,
                    "labels: found {}, want {} as output {} has", names.size(), output.width(),
                    output.name);
    return names;
  }
  std::optional<data::Target> target = job.data.data->target();
  if (softmax && target)
    names = target->symbols;
  for (size_t i = 0; softmax && job.data.vocabulary && i < job.data.vocabulary->size(); ++i)
    names.push_back(job.data.vocabulary->line(i));
  return int64_t(names.size()) == output.width() ? names : std::vector<std::string>();
}

/// How the predictions are shown; what is said of outputs that are not is in `leftOut`.
Result<std::vector<PredictedOutput>> outputsOf(const Job &job, const Options &options,
                                               std::vector<std::string> &leftOut) {
  std::vector<training::Head> heads = headsOf(job.model.package->data());
  std::optional<data::Target> target = job.data.data->target();
  std::vector<PredictedOutput> outputs;
  for (const auto &[binding, tensor, batchAxis] : job.prediction.outputs) {
    PredictedOutput output{training::outputName(binding->name), tensor, batchAxis, -1, 0, 1, {}};
    if (job.isText())
      output.stepAxis = stepAxisOf(job.entry().inputs[0], *binding, job.model.package->data());
    if (job.isText() && output.stepAxis < 0) {
      leftOut.push_back(fmt::format("output {} {}: no axis of it is the text's steps", output.name,
                                    data::shapeText(data::shapeOf(tensor))));
      continue;
    }
    const training::Head *head = headOf(heads, binding->name);
    bool regression = head && head->kind == training::HeadKind::Regression && head->classes == 0;
    if (regression && target && target->symbols.empty()) {
      output.mean = target->mean;
      output.deviation = target->deviation;
      output.name = target->name;
    }
    if (isTablePath(*options.output) && !job.isText() && tensor.rank > 2)
      output.stepAxis = output.batchAxis == 0 ? 1 : 0;
    LSTMC_ASSIGN(
        output.classes,
        classesOf(output, head && head->kind == training::HeadKind::Softmax, job, options));
    outputs.push_back(std::move(output));
  }
  if (outputs.empty())
    return failAt({job.model.path}, ErrorCode::E0610,
                  "predictions: found none, want an output with the rows of the batch; {}",
                  fmt::join(leftOut, "; "));
  return outputs;
}

/// --top and lines that several outputs share.
Status checkOutputs(const Job &job, const Options &options) {
  for (const PredictedOutput &output : job.outputs) {
    if (output.steps() != job.outputs[0].steps())
      return fail(ErrorCode::E0001,
                  "{} has {} lines a row and {} has {}, which one table cannot hold; -o F.npz can",
                  job.outputs[0].name, job.outputs[0].steps(), output.name, output.steps());
    int64_t classes =
        output.tensor.rank > 1 ? output.tensor.shape[size_t(output.tensor.rank) - 1] : 1;
    if (isTablePath(*options.output))
      classes = output.width();
    if (*options.top > classes)
      return fail(ErrorCode::E0001, "--top takes 1 to {}, the values of {}, got {}", classes,
                  output.name, *options.top);
  }
  return {};
}

Checked<Job> prepare(const Options &options, Console &console) {
  Job job;
  ModelRequest request;
  request.entries = {std::string(kEntry)};
  LSTMC_CHECKED_ASSIGN(NamedModel named, readNamedModel(options, request));
  LSTMC_CHECKED_ASSIGN(job.data, loadData(options, {.job = "predict", .unlabelled = true},
                                          named.data, named.namer, named.known()));
  if (!job.data.remark.empty())
    console.say(job.data.remark);
  LSTMC_CHECKED_ASSIGN(job.model, compile(std::move(named), job.data, options));
  console.warn(job.model.warnings);
  if (!job.model.package->findEntry(kEntry))
    return asDiagnostic(
        failAt({job.model.path}, ErrorCode::E0610, "entry forward: found none in the package"));
  if (!hasWeights(job.model, options))
    return asDiagnostic(failAt({job.model.path}, ErrorCode::E0610,
                               "weights: found none to predict with, want --params PATH, or a "
                               "checkpoint in place of this file"));
  LSTMC_CHECKED_ASSIGN(job.session, openSession(job.model, options, {std::string(kEntry)}));
  LSTMC_CHECKED_ASSIGN(uint64_t seed, seedInForce(job.model, options));
  job.session->setScalar("update", int64_t(1));
  job.session->setScalar("seed", int64_t(seed));
  LSTMC_CHECKED_ASSIGN(job.prediction,
                       training::preparePrediction(*job.session, *job.data.data, job.model.path));
  std::vector<std::string> leftOut = job.prediction.leftOut;
  LSTMC_CHECKED_ASSIGN(job.outputs, outputsOf(job, options, leftOut));
  for (const std::string &output : leftOut)
    console.say("left out  " + output);
  LSTMC_CHECKED_TRY(checkOutputs(job, options));
  if (job.prediction.mixesRows)
    console.say(
        "warning: the network mixes the samples of a batch: predictions depend on its size");
  return job;
}

/// "predict  12,800/29,641 ━━━━━━━───────", redrawn ten times a second.
class LiveLine {
public:
  explicit LiveLine(const Console &console) : console_(console) {}
  ~LiveLine() {
    if (shown_)
      writeMessage("\r\x1b[2K");
  }
  void draw(int64_t done, int64_t all) {
    auto now = std::chrono::steady_clock::now();
    if (!console_.live() || now - drawn_ < std::chrono::milliseconds(100))
      return;
    drawn_ = now;
    shown_ = true;
    writeMessage(fmt::format("\r\x1b[2Kpredict   {}/{} {}", grouped(done), grouped(all),
                             progressBar(double(done) / double(all), 24)));
  }

private:
  const Console &console_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point drawn_{};
};

/// The lines of the first `rows` rows of a batch, of which `first` is the first sample.
Status addRows(const Job &job, int64_t first, int64_t rows, PredictionFile &file) {
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t sample = first + row, steps = job.linesOf(sample);
    for (int64_t step = 0; step < steps; ++step) {
      LineLabel label{sample + 1, step, ""};
      if (!job.samples().rows.empty())
        label.row = job.samples().rows[size_t(sample)];
      if (job.isText()) {
        label.row = sample * job.outputs[0].steps() + step;
        LSTMC_ASSIGN(int64_t symbol, job.samples().symbolAt(label.row++));
        label.symbol = job.data.vocabulary->line(size_t(symbol));
      }
      LSTMC_TRY(file.add(label, row, step));
    }
  }
  return {};
}

/// Every batch, until a signal comes or nobody reads the result any more.
Status carryOut(Job &job, PredictionFile &file, Console &console) {
  LiveLine live(console);
  bool ended = false;
  LSTMC_TRY(training::predict(
      *job.session, job.prediction,
      [&](int64_t first, int64_t rows) {
        live.draw(first + rows, job.samples().count);
        return addRows(job, first, rows, file);
      },
      [&] {
        ended = training::SignalWatch::pending() != 0 || !outputHasReader();
        return !ended;
      }));
  return ended ? Status() : file.finish();
}

nlohmann::ordered_json predictJson(const Job &job, const Options &options, double seconds) {
  using Json = nlohmann::ordered_json;
  Json outputs = Json::array();
  for (const PredictedOutput &output : job.outputs)
    outputs.push_back({{"name", output.name},
                       {"dtype", dtypeName(output.tensor.dtype)},
                       {"values", output.width()},
                       {"classes", output.classes},
                       {"mean", output.mean},
                       {"deviation", output.deviation}});
  Json document = {{"schema", "lstmc.predict/1"},
                   {"model", options.operands[0]},
                   {"data", job.data.data->spec().source},
                   {"file", *options.output},
                   {"samples", job.samples().count},
                   {"lines", job.lines()},
                   {"outputs", outputs},
                   {"weights_hash", fmt::format("{:016x}", job.session->weightsHash())},
                   {"time_s", seconds}};
  document.update(Json::parse(training::memoryJson(job.session->memory())));
  return document;
}

Status checkOutput(const Options &options) {
  if (!options.output)
    return fail(ErrorCode::E0001, "predict writes its predictions: -o F.csv, F.npy or F.npz, or a "
                                  "table to stdout (-o -)");
  return checkPredictionPath(*options.output);
}

} // namespace

CommandResult predictCommand(const Options &options, Console &console) {
  LSTMC_CHECKED_TRY(checkOutput(options));
  Trace trace(options);
  LSTMC_CHECKED_ASSIGN(Job job, prepare(options, console));
  if (job.model.compiled)
    trace.passes(job.model.compiled->spans);
  trace.watch(*job.session);
  if (options.dryRun) {
    console.say("nothing was predicted: --dry-run");
    return ExitCode::Ok;
  }
  auto begin = std::chrono::steady_clock::now();
  training::SignalWatch watch;
  PredictionRequest request{*options.output, job.outputs,  job.lines(),
                            *options.top,    job.isText(), options.existing()};
  LSTMC_CHECKED_ASSIGN(auto file, openPredictionFile(std::move(request), console));
  if (Status status = carryOut(job, *file, console); !status.ok()) {
    const Diagnostic *fault = // has the user's line
        job.prediction.fault ? &*job.prediction.fault : job.session->fault();
    bool numbers = fault && status.error().code == ErrorCode::E0701;
    return Diagnostics{numbers ? *fault : asDiagnostic(status.error())};
  }
  if (int signal = training::SignalWatch::exitCode(); signal != 0)
    return ExitCode(signal);
  LSTMC_CHECKED_ASSIGN(Diagnostics outside, job.session->indexWarning());
  console.warn(outside);
  LSTMC_CHECKED_TRY(trace.write(console, job.session->peers()));
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (console.json())
    console.print(predictJson(job, options, seconds));
  else if (options.output != "-")
    console.print(fmt::format("{}  {} predictions", *options.output, grouped(job.lines())));
  return ExitCode::Ok;
}

} // namespace lstmc::cli
