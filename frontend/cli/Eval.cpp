// eval: what a network measures on data.

#include "executor/training/SessionTrainable.h"
#include "executor/training/TrainReport.h"
#include "executor/training/Trainer.h"
#include "frontend/cli/Commands.h"
#include "frontend/cli/DataFlags.h"
#include "frontend/cli/Expect.h"
#include "frontend/cli/FitCheck.h"
#include "frontend/cli/Model.h"
#include "frontend/cli/SettingText.h"
#include "frontend/cli/Trace.h"
#include "frontend/cli/Version.h"

namespace lstmc::cli {

Result<std::vector<std::string>> metricsAsked(const Options &options) {
  std::vector<std::string> names;
  std::vector<std::string_view> known = training::metricNames();
  for (const std::string &name : splitCommas(options.text("metric"))) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      return fail(ErrorCode::E0001, "there is no metric \"{}\"{}", name, didYouMean(name, known));
    names.push_back(name);
  }
  return names;
}

int evalCommand(const Options &options, Console &console) {
  Result<std::vector<std::string>> metrics = metricsAsked(options);
  if (!metrics.ok())
    return console.fail(metrics.error());
  std::vector<std::string_view> names = training::metricNames();
  Result<std::vector<Expectation>> wanted = expectations(options, names);
  if (!wanted.ok())
    return console.fail(wanted.error());

  Trace trace(options);
  // A checkpoint knows its vocabulary; a source takes what the data offer.
  ModelRequest request;
  request.entries = {"evaluate"};
  std::vector<package::Setting> fileData;
  std::optional<data::Learned> learned;
  DataNamer namer{options.operands.empty() ? "" : options.operands[0], ""};
  std::optional<Checked<Model>> model;
  bool source = !options.operands.empty() && isSource(options.operands[0]);
  if (source) {
    Checked<lnet::LoadedNet> net = loadSource(options.operands[0], options, request);
    if (!net.ok())
      return console.fail(net.diagnostics());
    fileData = settingTexts(net->data);
    if (std::optional<std::string> params = options.value("params")) {
      Result<training::FoundCheckpoint> found = training::findCheckpoint(*params);
      if (found.ok()) {
        Result<data::Learned> kept = learnedFrom(found->checkpoint);
        if (!kept.ok())
          return console.fail(kept.error());
        learned = std::move(*kept);
      }
    }
  } else {
    model.emplace(loadModel(options, request));
    if (!model->ok())
      return console.fail(model->diagnostics());
    fileData = (*model)->package->data().data;
    if ((*model)->checkpoint) {
      Result<data::Learned> kept = learnedFrom(*(*model)->checkpoint);
      if (!kept.ok())
        return console.fail(kept.error());
      learned = std::move(*kept);
      // Without --data: what it was trained on.
      fileData.push_back({"train", (*model)->checkpoint->state.source});
      namer = {(*model)->checkpoint->folder, (*model)->checkpoint->state.sourceDigest};
    }
  }
  Result<ModelData> data = loadData(options, fileData, namer, learned ? &*learned : nullptr);
  if (!data.ok())
    return console.fail(data.error());
  if (source) {
    if (data->vocabulary)
      request.offeredVocab = int64_t(data->vocabulary->size());
    model.emplace(loadModel(options, request));
    if (!model->ok())
      return console.fail(model->diagnostics());
  }
  console.warn((*model)->warnings);

  for (const std::string &name : *metrics)
    if (Status status = checkMetric(name, headsOf((*model)->package->data())); !status.ok())
      return console.fail(status.error());
  if (!hasWeights(**model, options))
    return console.fail(failAt({(*model)->path}, ErrorCode::E0610,
                               "weights: found none to evaluate, want --params PATH, or a "
                               "checkpoint in place of this file"));
  Result<std::unique_ptr<Session>> session = openSession(**model, options);
  if (!session.ok())
    return console.fail(session.error());
  Result<uint64_t> seed = seedInForce(**model, options);
  if (!seed.ok())
    return console.fail(seed.error());
  if ((*model)->compiled)
    trace.passes((*model)->compiled->spans);
  trace.watch(**session);
  auto run = [&]() -> Result<training::Evaluation> {
    LSTMC_ASSIGN(auto trainable, training::SessionTrainable::create(**session));
    LSTMC_ASSIGN(auto slots, trainable->inputs(training::Trainable::Entry::Evaluate));
    LSTMC_ASSIGN(auto feed, data->data->feed(training::validationPart(*data->data), slots, *seed));
    if (options.has("dry-run"))
      return training::Evaluation();
    return training::evaluate(*trainable, *feed);
  };
  Result<training::Evaluation> evaluation = run();
  if (!evaluation.ok()) {
    if (const Diagnostic *fault = (*session)->fault();
        fault && evaluation.error().code == ErrorCode::E0701)
      return console.fail(Diagnostics{*fault});
    return console.fail(evaluation.error());
  }
  if (options.has("dry-run")) {
    console.say("nothing was evaluated: --dry-run");
    return 0;
  }
  if (!evaluation->leftOut.empty())
    console.say(fmt::format("left out  {}", evaluation->leftOut));
  if (Status status = trace.write(console); !status.ok())
    return console.fail(status.error());
  const training::MetricTotals &totals = evaluation->totals;
  std::vector<training::HeldExpectation> held =
      judge(*wanted, [&](const std::string &metric) { return totals.value(metric); });
  std::string hash = fmt::format("{:016x}", (*session)->weightsHash());
  if (console.json()) {
    training::EvaluationContext context{
        options.operands[0], data->data->spec().source, versionLine(), hash, *seed,
        (*session)->memory()};
    console.print(training::evaluationJson(*evaluation, context, *metrics, held));
  } else {
    std::string line;
    for (std::string_view name : training::metricsReported(*metrics))
      if (std::optional<double> value = totals.value(name))
        line += fmt::format("{}{} {:.6g}", line.empty() ? "" : "  ", name, *value);
    console.print(
        line + fmt::format("  labels {:.0f}  ignored {:.0f}", totals.labels(), totals.ignored()));
    console.say(fmt::format("seed {}  weights {}  {}", *seed, hash, versionLine()));
  }
  return allHeld(held, console) ? 0 : int(ExitCode::AnswerIsNo);
}

} // namespace lstmc::cli
