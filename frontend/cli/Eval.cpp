// eval: what a network measures on data.

#include "executor/training/SessionTrainable.h"
#include "executor/training/TrainReport.h"
#include "executor/training/Trainer.h"
#include "frontend/cli/Commands.h"
#include "frontend/cli/DataFlags.h"
#include "frontend/cli/Expect.h"
#include "frontend/cli/Model.h"
#include "frontend/cli/SettingText.h"
#include "frontend/cli/Version.h"

namespace lstmc::cli {

static Result<std::vector<std::string>> metricsAsked(const Options &options) {
  std::vector<std::string> names;
  std::vector<std::string_view> known(std::begin(training::kMetricNames), std::end(training::kMetricNames));
  std::string text = options.value("metric").value_or("");
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find(',', at), text.size());
    names.push_back(text.substr(at, end - at));
    at = end + 1;
    if (std::find(known.begin(), known.end(), names.back()) == known.end()) {
      std::optional<std::string> near = nearest(names.back(), known);
      return fail(ErrorCode::E0001, "there is no metric \"{}\"{}", names.back(),
                  near ? fmt::format("; did you mean \"{}\"?", *near) : "");
    }
  }
  return names;
}

int evalCommand(const Options &options, Console &console) {
  Result<std::vector<std::string>> metrics = metricsAsked(options);
  if (!metrics.ok())
    return console.fail(metrics.error());
  std::vector<std::string_view> names(std::begin(training::kMetricNames), std::end(training::kMetricNames));
  Result<std::vector<Expectation>> wanted = expectations(options, names);
  if (!wanted.ok())
    return console.fail(wanted.error());

  // A checkpoint knows its vocabulary; a source takes what the data offer.
  ModelRequest request;
  request.entries = {"evaluate"};
  std::vector<package::Setting> fileData;
  std::optional<data::Learned> learned;
  std::optional<Checked<Model>> model;
  bool source = !options.operands.empty() && options.operands[0].ends_with(".lnet");
  if (source) {
    Result<lnet::LoadOptions> load = loadOptions(options, request);
    if (!load.ok())
      return console.fail(load.error());
    Checked<lnet::LoadedNet> net = lnet::load(options.operands[0], *load);
    if (!net.ok())
      return console.fail(net.diagnostics());
    fileData = settingTexts(net->data);
    if (std::optional<std::string> params = options.value("params")) {
      Result<training::FoundCheckpoint> found = training::findCheckpoint(*params);
      if (found.ok()) {
        Model holder;
        holder.checkpoint = std::move(found->checkpoint);
        Result<std::optional<data::Vocabulary>> vocabulary = modelVocabulary(holder);
        if (!vocabulary.ok())
          return console.fail(vocabulary.error());
        learned = data::Learned{*vocabulary, holder.checkpoint->state.scaling};
      }
    }
  } else {
    model.emplace(loadModel(options, request));
    if (!model->ok())
      return console.fail(model->diagnostics());
    fileData = (*model)->package->data().data;
    Result<std::optional<data::Vocabulary>> vocabulary = modelVocabulary(**model);
    if (!vocabulary.ok())
      return console.fail(vocabulary.error());
    if ((*model)->checkpoint)
      learned = data::Learned{*vocabulary, (*model)->checkpoint->state.scaling};
  }
  Result<ModelData> data = loadData(options, fileData, options.operands.empty() ? "" : options.operands[0], learned ? &*learned : nullptr);
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

  Result<std::unique_ptr<Session>> session = openSession(**model, options);
  if (!session.ok())
    return console.fail(session.error());
  auto run = [&]() -> Result<training::Evaluation> {
    LSTMC_ASSIGN(auto trainable, training::SessionTrainable::create(**session));
    LSTMC_ASSIGN(auto slots, trainable->inputs(training::Trainable::Entry::Evaluate));
    LSTMC_ASSIGN(int64_t seed, options.count("seed", 0));
    LSTMC_ASSIGN(auto feed, data->data->feed(training::validationPart(*data->data), slots, uint64_t(seed)));
    return training::evaluate(*trainable, *feed);
  };
  Result<training::Evaluation> evaluation = run();
  if (!evaluation.ok()) {
    if (const Diagnostic *fault = (*session)->fault(); fault && evaluation.error().code == ErrorCode::E0701)
      return console.fail(Diagnostics{*fault});
    return console.fail(evaluation.error());
  }
  const training::MetricTotals &totals = evaluation->totals;
  std::vector<training::HeldExpectation> held =
      judge(*wanted, [&](const std::string &metric) { return totals.value(metric); });
  std::string hash = fmt::format("{:016x}", (*session)->weightsHash());
  if (console.json()) {
    training::EvaluationContext context{options.operands[0], data->data->spec().source, versionLine(), hash, 0};
    fmt::print("{}\n", training::evaluationJson(*evaluation, context, *metrics, held));
  } else {
    std::string line;
    for (std::string_view name : training::kMetricNames) {
      bool asked = metrics->empty() || std::find(metrics->begin(), metrics->end(), name) != metrics->end();
      if (std::optional<double> value = totals.value(name); asked && value)
        line += fmt::format("{}{} {:.6g}", line.empty() ? "" : "  ", name, *value);
    }
    console.print(line + fmt::format("  labels {:.0f}  ignored {:.0f}", totals.labels(), totals.ignored()));
    console.say(fmt::format("seed {}  weights {}  {}", options.value("seed").value_or("0"), hash, versionLine()));
  }
  bool allHeld = true;
  for (const training::HeldExpectation &expectation : held)
    if (!expectation.held) {
      allHeld = false;
      console.say(fmt::format("expectation not held: {} (value {})", expectation.text,
                              expectation.value ? fmt::format("{:.6g}", *expectation.value) : "none"));
    }
  return allHeld ? 0 : int(ExitCode::AnswerIsNo);
}

} // namespace lstmc::cli
