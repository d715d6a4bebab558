// train: the loop around a compiled step, with checkpoints.

#include <cmath>

#include "executor/abi/EntryNames.h"
#include "executor/package/Plan.h"
#include "executor/training/EventFile.h"
#include "executor/training/SessionTrainable.h"
#include "executor/training/Signals.h"
#include "executor/training/TrainReport.h"
#include "executor/training/Trainer.h"
#include "frontend/cli/AsyncStore.h"
#include "frontend/cli/Buckets.h"
#include "frontend/cli/Commands.h"
#include "frontend/cli/DataFlags.h"
#include "frontend/cli/Expect.h"
#include "frontend/cli/FitCheck.h"
#include "frontend/cli/GradientWatch.h"
#include "frontend/cli/InitParams.h"
#include "frontend/cli/LayerMonitor.h"
#include "frontend/cli/Model.h"
#include "frontend/cli/NamedModel.h"
#include "frontend/cli/PlanText.h"
#include "frontend/cli/Progress.h"
#include "frontend/cli/RankMachines.h"
#include "frontend/cli/Ranks.h"
#include "frontend/cli/RateSearch.h"
#include "frontend/cli/RealSteps.h"
#include "frontend/cli/SettingText.h"
#include "frontend/cli/ThreadFlags.h"
#include "frontend/cli/Trace.h"
#include "frontend/cli/TrainFlags.h"
#include "frontend/cli/TrainObservers.h"
#include "frontend/cli/Version.h"
#include "passes/planning/PackageForecast.h"
#include "passes/planning/rates/MachineRates.h"

namespace lstmc::cli {

namespace {

constexpr std::string_view kTrainMetrics[] = {"loss", "best_loss", "perplexity", "update"};

std::string asText(const package::PackageData &data) {
  package::Bytes bytes = package::serialize(data);
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

} // namespace

std::optional<std::string> samplePackage(const Options &options, const ModelRequest &request,
                                         const package::PackageData &trained) {
  ModelRequest single = request;
  single.entries = {"forward"};
  single.carry = {"*"};
  for (const package::Entry &entry : trained.entries)
    if (entry.name == "step")
      for (const package::Binding &input : entry.inputs)
        if (input.role != "scalar") {
          if (trained.buffers[input.buffer].shape.size() != 2)
            return std::nullopt;
          single.shapes.push_back({input.name, {1, 1}, {}});
        }
  Options quiet = options; // with what is said of the training's own size left out
  const FlagValues defaults;
  quiet.batch = defaults.batch;
  quiet.shape = defaults.shape;
  quiet.entry = defaults.entry;
  quiet.mem = defaults.mem;
  Checked<Model> model = loadModel(quiet, single);
  if (!model.ok() || !model->compiled)
    return std::nullopt;
  return asText(model->compiled->package);
}

namespace {

/// Extent of the dim `seq` of a training input; 0 where none has it.
int64_t stepsOf(const package::PackageData &data) {
  for (const package::Entry &entry : data.entries)
    for (const package::Binding &input : entry.inputs)
      for (size_t axis = 0; entry.name == "step" && axis < input.dims.size(); ++axis)
        if (input.dims[axis] == "seq")
          return data.buffers[input.buffer].shape[axis];
  return 0;
}

void readAmounts(const Options &options, training::TrainOptions &train) {
  if (options.after)
    train.after = *options.after;
  else if (train.fit.after)
    train.after = *train.fit.after;
  train.validEvery = *options.validEvery;
  train.saveEvery = *options.saveEvery;
  train.dispEvery = *options.dispEvery;
  train.keepEvery = *options.keepEvery;
  train.checkReplicas = *options.checkReplicas;
  train.keep = int(*options.keep);
  train.earlyStop = int(*options.earlyStop);
}

} // namespace

Result<training::TrainOptions> trainOptions(const Model &model, const Options &options) {
  training::TrainOptions train;
  for (const package::Setting &setting : model.fit) {
    LSTMC_ASSIGN(bool known, train.fit.set(setting.name, setting.value));
    (void)known; // the others were compiled into the step
  }
  readAmounts(options, train);
  LSTMC_ASSIGN(train.seed, seedInForce(model, options));
  train.folder = options.output.value_or("");
  train.resume = options.resume;
  train.overwrite = options.force;
  train.version = versionLine();
  return train;
}

Status prepareAll(Session &session) {
  for (const package::Entry &entry : session.package().data().entries)
    if (entry.name.starts_with(kPreparePrefix) && session.hasEntry(entry.name))
      LSTMC_TRY(session.run(entry.name));
  return {};
}

namespace {

/// Whether the data fit the network.
Status dryRun(training::Trainable &model, const ModelData &data,
              const training::TrainOptions &options) {
  using Entry = training::Trainable::Entry;
  LSTMC_ASSIGN(auto feed, model.trainingFeed(*data.data, options.seed));
  if (data.valid) {
    LSTMC_ASSIGN(auto validInputs, model.inputs(Entry::Evaluate));
    LSTMC_ASSIGN(auto validFeed, data.valid->feed(data::Part::All, validInputs, options.seed));
  }
  return {};
}

/// What is trained, on what, and how. A member may point to one before it.
struct Job {
  Model model;
  ModelRequest request; ///< that the model was compiled with
  ModelData data;
  std::vector<std::string> metrics;
  training::TrainOptions options;
  std::optional<AsyncStore> async;
  std::unique_ptr<Session> session;
  std::unique_ptr<Session> second; ///< of a replay: the servers'
  Buckets buckets;                 ///< whose longest is `session`
  std::unique_ptr<training::Trainable> trainable;
  planning::PackageForecast forecast;
  std::string messages; ///< of ranks: what was measured, for `forecast`

  const package::PackageData &package() const { return model.package->data(); }
  std::vector<Session *> sessions() const {
    std::vector<Session *> all = {session.get()};
    for (const std::unique_ptr<Session> &shorter : buckets.sessions)
      all.push_back(shorter.get());
    return all;
  }
};

Status checkOutput(const Options &options) {
  if (options.initParams && options.resume)
    return fail(ErrorCode::E0001, "--init-params begins a training and --resume goes on with one: "
                                  "give one of them");
  if (!options.output && !options.dryRun && !options.lrFind)
    return fail(ErrorCode::E0001, "train writes checkpoints: -o DIR");
  if (options.output == "-")
    return fail(ErrorCode::E0001, "train writes a folder of checkpoints, which stdout cannot be: "
                                  "-o DIR");
  return {};
}

/// --metric, else that of fit(..); each can be measured.
Result<std::vector<std::string>> metricsOf(const Job &job, const Options &options) {
  LSTMC_ASSIGN(std::vector<std::string> metrics, metricsAsked(options));
  for (const std::string &name : metrics)
    LSTMC_TRY(checkMetric(name, job.model));
  return metrics.empty() ? splitCommas(job.options.fit.metric) : metrics;
}

bool validates(const Job &job) { return job.data.valid || job.data.data->spec().valid > 0; }

/// The entries that training runs.
std::vector<std::string> trainingEntries(const Job &job) {
  return validates(job) ? std::vector<std::string>{"step", "evaluate"}
                        : std::vector<std::string>{"step"};
}

/// Metrics that only validations measure, where there are none.
void warnUnmeasured(const Job &job, Console &console) {
  if (validates(job))
    return;
  for (const std::string &name : job.metrics)
    if (!training::measuredByStep(name))
      console.say(fmt::format("warning: {} is measured in validations only, and there are none: "
                              "--valid 0.1 keeps a tenth of the data for them",
                              name));
}

/// The flags that the network is compiled with: of asynchronous updates, for the rows of a worker.
Checked<Options> compilationOf(const Options &options, Job &job, const NamedModel &named) {
  LSTMC_CHECKED_ASSIGN(job.async, asyncStoreAsked(options));
  if (!job.async)
    return options;
  if (named.model)
    return asDiagnostic(fail(ErrorCode::E0001,
                             "asynchronous updates compile a network for the "
                             "rows of each worker: give the network, not {}",
                             options.operands[0]));
  return optionsOfWorker(options, *job.async, [&] {
    ModelRequest request = job.request;
    if (job.data.vocabulary)
      request.offeredVocab = int64_t(job.data.vocabulary->size());
    return loadModel(options, request);
  });
}

Status makeTrainable(Job &job, const Options &compiled) {
  if (!job.buckets.steps.empty()) {
    LSTMC_ASSIGN(job.trainable, openBuckets(job.buckets, *job.session, compiled));
    return {};
  }
  if (!job.async || isServer(*job.async)) {
    LSTMC_ASSIGN(job.trainable, training::SessionTrainable::create(*job.session));
    return {};
  }
  if (job.async->replay) {
    LSTMC_ASSIGN(job.second, openSession(job.model, compiled, {"step"}));
    job.options.after = {double(job.async->replay->updates()), training::Amount::Unit::Updates};
  }
  LSTMC_ASSIGN(job.trainable, asyncTrainable(*job.async, compiled, *job.session, job.second.get(),
                                             *job.data.data, job.options));
  return {};
}

/// The network is compiled here for each length, and one process has them all.
Status checkBuckets(const std::vector<int64_t> &buckets, const Job &job, const NamedModel &named,
                    const Options &options) {
  if (buckets.empty())
    return {};
  if (named.model)
    return fail(ErrorCode::E0001,
                "buckets= of the data compile the network for each length: give the network, not "
                "{}",
                options.operands[0]);
  if (job.async || jobRanks() > 1)
    return fail(ErrorCode::E0001, "buckets= of the data are for one process: without launch, with "
                                  "-d 2xcpu for two devices");
  return {};
}

/// Reads and compiles all that is wanted, the data first: they offer the size of the vocabulary
/// that the net may take.
Checked<Job> prepare(const Options &asked, Console &console) {
  Job job;
  LSTMC_CHECKED_ASSIGN(NamedModel named, readNamedModel(asked, job.request));
  LSTMC_CHECKED_ASSIGN(job.data, loadData(asked, named.data, named.namer, named.known()));
  measureIfNew(threadsInQuestion(asked), console);
  LSTMC_CHECKED_ASSIGN(Options options, compilationOf(asked, job, named));
  const std::vector<int64_t> &buckets = job.data.data->spec().buckets;
  LSTMC_CHECKED_TRY(checkBuckets(buckets, job, named, options));
  if (!buckets.empty())
    job.request.bucket = buckets.back();
  LSTMC_CHECKED_ASSIGN(job.model, modelFor(std::move(named), job.data, options, job.request));
  const Model &model = job.model;
  console.warn(model.warnings);
  LSTMC_CHECKED_ASSIGN(job.options, trainOptions(model, options));
  LSTMC_CHECKED_ASSIGN(job.metrics, metricsOf(job, options));
  warnUnmeasured(job, console);
  if (!buckets.empty()) {
    LSTMC_CHECKED_ASSIGN(job.buckets, compileBuckets(buckets, options, job.request));
  }
  LSTMC_CHECKED_ASSIGN(job.session, openSession(model, options, trainingEntries(job), Engine::Fast,
                                                job.buckets.packages()));
  if (options.initParams)
    LSTMC_CHECKED_TRY(initParams(*job.session, *options.initParams, options, console));
  LSTMC_CHECKED_TRY(makeTrainable(job, options));
  job.options.attachments.push_back(
      {std::string(training::kPackageFile), asText(model.package->data())});
  if (model.compiled && job.data.vocabulary)
    if (std::optional<std::string> sample =
            samplePackage(options, job.request, model.compiled->package))
      job.options.attachments.push_back({"sample.lstmc", *sample});
  LSTMC_CHECKED_ASSIGN(double real, realSteps(job.package(), *job.data.data, job.options.seed));
  LSTMC_CHECKED_ASSIGN(RankMachines here,
                       rankMachines(*job.session, deviceHere(*job.session).threads()));
  job.forecast = planning::forecastPackage(job.package(), here.machines, real);
  job.messages = here.messages;
  return job;
}

/// What is known before the first update.
void announce(const Job &job, const Options &options, Console &console) {
  const package::PackageData &data = job.package();
  const Model &model = job.model;
  int64_t elements = 0;
  for (const StoredTensor &parameter : job.trainable->parameters())
    elements += parameter.tensor.elements();
  console.say(fmt::format("{:<9} {} parameters, {}, {}, seed {}, {}", data.net, grouped(elements),
                          data.numerics, package::deviceList(data), job.options.seed,
                          versionLine()));
  if (model.compiled && !model.compiled->shares.empty())
    console.say(sharesLine(model.compiled->shares, *options.workLoadList));
  if (!model.recomputed.empty())
    console.say(model.recomputed);
  if (model.compiled && !model.compiled->layouts.empty())
    console.say(layoutsText(model.compiled->layouts, 3));
  if (model.compiled)
    console.say(planLine(data, deviceHere(*job.session).memoryBytes()));
  if (!job.buckets.steps.empty())
    console.say(fmt::format("buckets   {} steps, in the memory of the largest",
                            fmt::join(job.buckets.steps, ", ")));
  if (job.async)
    console.say(fmt::format("store     {}", storeText(*job.async)));
  if (job.session->peers())
    console.say(fmt::format("ranks     {}", ranksText(*job.session)));
  if (!job.messages.empty())
    console.say(job.messages);
  console.say(forecastLine(data, job.forecast));
}

/// The JSON document or lines of a training; null where neither is wanted.
training::TrainReport *addReport(const Job &job, const Options &options, const Console &console,
                                 Observers &observers) {
  if (!console.json())
    return nullptr;
  auto form = *options.format == Form::JsonLines ? training::TrainReport::Form::Lines
                                                 : training::TrainReport::Form::Document;
  std::vector<std::string> devices;
  for (const package::Device &device : job.package().devices)
    devices.push_back(device.name);
  training::ReportContext context{
      versionLine(), versionLine(),          options.operands[0],
      devices,       stepsOf(job.package()), planJson(job.package(), &job.forecast).dump()};
  return &observers.add<training::TrainReport>(
      form, context, [&console](const std::string &text) { console.print(text); });
}

/// Those that show, log and watch.
Status addObservers(const Job &job, const Options &options, const Console &console,
                    Observers &observers) {
  observers.add<Progress>(console, job.metrics, options.gradientNorms);
  observers.add<GradientWatch>(console, job.package());
  if (options.tensorboard) {
    LSTMC_ASSIGN(training::EventFile file, training::EventFile::create(*options.tensorboard));
    observers.add<training::EventLog>(std::move(file));
  }
  if (options.monitor) {
    const training::Amount &every = *options.dispEvery;
    bool updates = every.unit == training::Amount::Unit::Updates && every.value >= 1;
    for (Session *session : job.sessions())
      observers.add<LayerMonitor>(console, *session, *options.monitor,
                                  updates ? int64_t(every.value) : 50);
  }
  return {};
}

/// Why a training ended. Numbers that went wrong did so at a line of the user's, and the update is
/// saved to be seen again.
Diagnostics faultOf(const Error &error, const Job &job, const std::string &failedUpdate,
                    const Options &options) {
  const std::vector<Session *> all = job.sessions();
  auto failed = std::ranges::find_if(all, [](const Session *each) { return each->fault(); });
  if (failed == all.end() || error.code != ErrorCode::E0701)
    return {asDiagnostic(error)};
  Diagnostic fault = *(*failed)->fault();
  if (!failedUpdate.empty())
    fault.reasons.push_back({fmt::format("saved to see it again: lstmc run {}{}", failedUpdate,
                                         options.checkNan ? " --check-nan" : ""),
                             {}});
  return {fault};
}

std::optional<double> valueOf(const training::EndEvent &end, std::string_view metric) {
  if (metric == "loss")
    return end.loss;
  if (metric == "best_loss")
    return end.bestLoss;
  if (metric == "update")
    return double(end.progress.update);
  return end.loss ? std::optional(std::exp(*end.loss)) : std::nullopt;
}

std::string resultLine(const training::EndEvent &end) {
  std::string line = end.lastCheckpoint.empty() ? "(no checkpoint)" : end.lastCheckpoint;
  if (end.loss)
    line += fmt::format("  loss {:.4f}", *end.loss);
  if (end.bestLoss)
    line += fmt::format("  best {:.4f}", *end.bestLoss);
  return line + fmt::format("  weights {}", end.weightsHash);
}

/// Trains, and says what came of it.
CommandResult carryOut(Job &job, const std::vector<Expectation> &wanted, const Options &options,
                       const Trace &trace, Console &console) {
  LSTMC_CHECKED_TRY(prepareAll(*job.session));
  if (job.async && isServer(*job.async)) {
    LSTMC_CHECKED_TRY(serve(*job.async, *job.session, job.options.fit));
    return ExitCode::Ok;
  }
  job.options.metrics = job.metrics;
  Observers observers;
  LSTMC_CHECKED_TRY(addObservers(job, options, console, observers));
  UpdateClock &clock = observers.add<UpdateClock>();
  training::TrainReport *report = addReport(job, options, console, observers);
  Result<training::EndEvent> end =
      training::train(*job.trainable, *job.data.data, job.data.valid.get(), job.options, observers);
  if (!end.ok())
    return faultOf(end.error(), job, observers.failedUpdate, options);
  LSTMC_CHECKED_TRY(leaveServers(*job.trainable));
  LSTMC_CHECKED_TRY(writeSynchronousLog(options, job.options, *job.model.package, *job.data.data));
  for (const Session *session : job.sessions()) {
    LSTMC_CHECKED_ASSIGN(Diagnostics outside, session->indexWarning());
    console.warn(outside);
  }
  if (std::string text = clock.text(job.forecast.seconds()); !text.empty())
    console.say(text);
  LSTMC_CHECKED_TRY(trace.write(console));
  std::vector<training::HeldExpectation> held =
      judge(wanted, [&](const std::string &metric) { return valueOf(*end, metric); });
  ExitCode exit = allHeld(held, console) ? ExitCode::Ok : ExitCode::AnswerIsNo;
  if (end->reason == training::EndReason::Signal)
    exit = ExitCode(128 + end->signal);
  if (report)
    report->finish(job.session->memory(), held, int(exit));
  else
    console.print(resultLine(*end));
  return exit;
}

} // namespace

/// All that can be expected of a training but its length is what validations measure.
static Status checkMeasured(const std::vector<Expectation> &wanted, const ModelData &data) {
  if (data.valid || data.data->spec().valid > 0)
    return {};
  for (const Expectation &each : wanted)
    if (each.metric != "update")
      return fail(ErrorCode::E0001,
                  "--expect '{}' is about validations, and there are no data to validate on: "
                  "--valid 0.1 keeps a tenth of them, --valid SPEC has others",
                  each.text);
  return {};
}

CommandResult trainCommand(const Options &options, Console &console) {
  LSTMC_CHECKED_ASSIGN(std::vector<Expectation> wanted,
                       expectations(options, {std::begin(kTrainMetrics), std::end(kTrainMetrics)}));
  LSTMC_CHECKED_TRY(metricsAsked(options));
  LSTMC_CHECKED_TRY(checkOutput(options));
  Trace trace(options);
  LSTMC_CHECKED_ASSIGN(Job job, prepare(options, console));
  LSTMC_CHECKED_TRY(checkMeasured(wanted, job.data));
  announce(job, options, console);
  if (job.model.compiled)
    trace.passes(job.model.compiled->spans);
  for (Session *session : job.sessions())
    trace.watch(*session);
  if (!options.dryRun && options.lrFind) {
    LSTMC_CHECKED_TRY(prepareAll(*job.session));
    return searchRate(*job.trainable, *job.data.data, job.options.fit, job.options.seed, options,
                      console);
  }
  if (!options.dryRun)
    return carryOut(job, wanted, options, trace, console);
  LSTMC_CHECKED_TRY(dryRun(*job.trainable, job.data, job.options));
  console.say("nothing was trained: --dry-run");
  return ExitCode::Ok;
}

} // namespace lstmc::cli
