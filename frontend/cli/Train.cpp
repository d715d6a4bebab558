// train: the loop around a compiled step, with checkpoints.

#include <cmath>

#include "executor/package/Plan.h"
#include "executor/training/EventFile.h"
#include "executor/training/SessionTrainable.h"
#include "executor/training/Signals.h"
#include "executor/training/TrainReport.h"
#include "frontend/cli/Commands.h"
#include "frontend/cli/DeviceWatch.h"
#include "frontend/cli/Emulated.h"
#include "frontend/cli/Expect.h"
#include "frontend/cli/GradientWatch.h"
#include "frontend/cli/IdleFlags.h"
#include "frontend/cli/LayerMonitor.h"
#include "frontend/cli/LostOutput.h"
#include "frontend/cli/ModelFiles.h"
#include "frontend/cli/Operand.h"
#include "frontend/cli/PlanText.h"
#include "frontend/cli/Progress.h"
#include "frontend/cli/RateSearch.h"
#include "frontend/cli/Trace.h"
#include "frontend/cli/TrainObservers.h"
#include "frontend/driver/RankDevices.h"
#include "frontend/driver/Ranks.h"
#include "frontend/driver/TrainJob.h"
#include "frontend/driver/TrainOptions.h"
#include "frontend/driver/Version.h"

namespace lstmc::cli {

namespace {

constexpr std::string_view kTrainMetrics[] = {"loss", "best_loss", "perplexity", "update"};

/// Extent of the dim `seq` of a training input; 0 where none has it.
int64_t stepsOf(const package::PackageData &data) {
  for (const package::Entry &entry : data.entries)
    for (const package::Binding &input : entry.inputs)
      for (size_t axis = 0; entry.name == "step" && axis < input.dims.size(); ++axis)
        if (input.dims[axis] == "seq")
          return data.buffers[input.buffer].shape[axis];
  return 0;
}

/// Whether the data fit the network.
Status dryRun(training::Trainable &model, const ModelData &data,
              const training::TrainOptions &options) {
  using Entry = training::Trainable::Entry;
  LSTMC_ASSIGN(auto feed, model.trainingFeed(*data.data, options.seed,
                                             training::Trainable::BatchRows::Wanted));
  if (data.valid) {
    LSTMC_ASSIGN(auto validInputs, model.inputs(Entry::Evaluate));
    LSTMC_ASSIGN(auto validFeed, data.valid->feed(data::Part::All, validInputs, options.seed));
  }
  return {};
}

Status checkOutput(const Options &options) {
  if (options.initParams && options.resume)
    return fail(ErrorCode::E0001, "--init-params begins a training and --resume goes on with one: "
                                  "give one of them");
  if (options.params && options.resume)
    return fail(ErrorCode::E0001, "--params begins a training and --resume goes on with one: give "
                                  "one of them");
  if (!options.output && !options.dryRun && !options.lrFind)
    return fail(ErrorCode::E0001, "train writes checkpoints: -o DIR");
  if (options.output == "-")
    return fail(ErrorCode::E0001, "train writes a folder of checkpoints, which stdout cannot be: "
                                  "-o DIR");
  return {};
}

/// Gradients of single parameters are an output of `step` where somebody is told of them. A replay
/// has the program of its run, whatever either prints.
GradientNorms normsTold(const Options &options) {
  const bool logged = *options.format == Form::JsonLines && !options.replay && !saysAsync(options);
  return options.verbose > 0 || options.tensorboard || logged ? GradientNorms::All
                                                              : GradientNorms::Deep;
}

/// What is known before the first update.
void announce(const TrainJob &job, const Options &options, Console &console) {
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
    console.say(planLine(data, deviceHere(*job.session).memoryBytes(),
                         job.session->peers() ? jobRanks() : 1));
  if (!job.buckets.steps.empty())
    console.say(fmt::format("buckets   {} steps, in the memory of the largest",
                            fmt::join(job.buckets.steps, ", ")));
  if (job.async)
    console.say(fmt::format("store     {}", storeText(*job.async)));
  if (job.session->peers())
    console.say(
        fmt::format("ranks     {}",
                    ranksText(*job.session, model.compiled ? model.compiled->shares
                                                           : std::vector<passes::BatchShare>())));
  if (const std::string nccl = job.session->peers() ? ncclText(*job.session) : ""; !nccl.empty())
    console.say(nccl);
  if (!job.messages.empty())
    console.say(job.messages);
  console.say(forecastLine(data, job.forecast));
}

/// The JSON document or lines of a training; null where neither is wanted.
training::TrainReport *addReport(const TrainJob &job, const Options &options,
                                 const Console &console, Observers &observers) {
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

/// The names of this process's devices: of a rank, its own.
std::vector<std::string> devicesHere(const TrainJob &job) {
  if (job.session->peers())
    return {deviceHere(*job.session).name()};
  std::vector<std::string> names;
  for (const package::Device &device : job.package().devices)
    names.push_back(device.name);
  return names;
}

/// Those that show, log and watch.
Status addObservers(TrainJob &job, const Options &options, const Console &console,
                    Observers &observers) {
  observers.add<Progress>(console, job.metrics, options.gradientNorms);
  observers.add<GradientWatch>(console, job.package());
  observers.add<DeviceWatch>(console, devicesHere(job));
  observers.add<AtStart>([&job] { job.checkpoint.reset(); }); // it has been read
  if (options.tensorboard && jobRank() == 0) {
    LSTMC_ASSIGN(training::EventFile file, training::EventFile::create(*options.tensorboard));
    observers.add<training::EventLog>(std::move(file), reportLost);
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
Diagnostics faultOf(const Error &error, const TrainJob &job, const std::string &failedUpdate,
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

/// P-symbol.json of --model-prefix P, unless that is what is trained, and P-NNNN.params from now
/// on.
Status addModelFiles(const TrainJob &job, const Options &options, const Console &console,
                     Observers &observers) {
  if (!options.modelPrefix || jobRank() != 0)
    return {};
  const std::string &path = options.operands[0];
  if (!isSource(path))
    console.say(fmt::format("warning: {} holds no network, so {} is not written", path,
                            symbolFile(*options.modelPrefix)));
  else if (path != symbolFile(*options.modelPrefix) && !options.resume) {
    Checked<symbol::Network> net = loadSource(path, options, job.request);
    if (!net.ok())
      return fail(ErrorCode::E0001, "{}", net.diagnostics().front().message);
    LSTMC_ASSIGN(std::vector<std::string> warnings,
                 writeNetwork(*options.modelPrefix, *net, options.existing()));
    for (const std::string &warning : warnings)
      console.say("warning: " + warning);
  }
  observers.add<ModelFiles>(console, job.package(), *options.modelPrefix,
                            options.loadEpoch.value_or(0),
                            options.resume ? OutputFile::Existing::Replace : options.existing());
  return {};
}

/// Trains, and says what came of it.
CommandResult carryOut(TrainJob &job, const std::vector<Expectation> &wanted,
                       const Options &options, const Trace &trace, Console &console) {
  // To the end of a rank's process: one that has stopped because another rank was told to may hear
  // of the signal afterwards.
  static std::optional<training::SignalWatch> ofRank;
  if (isRank())
    ofRank.emplace();
  if (job.async && isServer(*job.async)) {
    LSTMC_CHECKED_TRY(serve(*job.async, *job.session, job.options.fit));
    return ExitCode::Ok;
  }
  LSTMC_CHECKED_TRY(training::prepareAll(*job.session));
  job.options.metrics = job.metrics;
  const bool emulated = onEmulated(job.package());
  Observers observers(emulated);
  LSTMC_CHECKED_TRY(addObservers(job, options, console, observers));
  LSTMC_CHECKED_TRY(addModelFiles(job, options, console, observers));
  UpdateClock &clock = observers.add<UpdateClock>();
  training::TrainReport *report = addReport(job, options, console, observers);
  Result<training::EndEvent> end =
      training::train(*job.trainable, *job.data.data, job.data.valid.get(), job.options, observers);
  if (!end.ok())
    return faultOf(end.error(), job, observers.failedUpdate, options);
  LSTMC_CHECKED_TRY(leaveServers(*job.trainable));
  LSTMC_CHECKED_TRY(
      writeSynchronousLog(options, job.options, *job.model.package, *job.data.data, *end));
  if (options.replay)
    LSTMC_CHECKED_TRY(stores::checkFinish(*options.replay, end->progress.update, end->weightsHash));
  for (const Session *session : job.sessions()) {
    LSTMC_CHECKED_ASSIGN(Diagnostics outside, session->indexWarning());
    console.warn(outside);
  }
  if (std::string text = clock.text(job.forecast.seconds()); !text.empty() && !emulated)
    console.say(text);
  LSTMC_CHECKED_TRY(trace.write(console, job.session->peers()));
  std::vector<training::HeldExpectation> held =
      judge(wanted, [&](const std::string &metric) { return valueOf(*end, metric); });
  ExitCode exit = allHeld(held, console) ? ExitCode::Ok : ExitCode::AnswerIsNo;
  if (end->reason == training::EndReason::Signal)
    exit = ExitCode(128 + end->signal);
  exit = withLost(exit);
  if (report)
    report->finish(job.session->memory(), held, int(exit));
  else
    console.print(resultLine(*end));
  return exit;
}

} // namespace

/// All that can be expected of a training but its length is what validations measure.
static Status checkValidates(const std::vector<Expectation> &wanted, const ModelData &data) {
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
  LSTMC_CHECKED_TRY(checkOneModel(options));
  ModelRequest request;
  request.norms = normsTold(options);
  request.measures = metricsExpected(options);
  request.findings = idleFlagsIn(options);
  LSTMC_CHECKED_ASSIGN(TrainJob job,
                       prepareTraining(options.operands[0], options, request, console));
  LSTMC_CHECKED_TRY(checkValidates(wanted, job.data));
  LSTMC_CHECKED_TRY(warned(idleInTraining(options, job), options, console));
  announce(job, options, console);
  if (job.model.compiled)
    trace.passes(job.model.compiled->spans);
  for (Session *session : job.sessions())
    trace.watch(*session);
  if (!options.dryRun && options.lrFind) {
    LSTMC_CHECKED_TRY(training::prepareAll(*job.session));
    return searchRate(*job.trainable, *job.data.data, job.options.seed, options, console);
  }
  if (!options.dryRun)
    return carryOut(job, wanted, options, trace, console);
  LSTMC_CHECKED_TRY(dryRun(*job.trainable, job.data, job.options));
  console.say("nothing was trained: --dry-run");
  return ExitCode::Ok;
}

} // namespace lstmc::cli
