#include "frontend/cli/TrainJob.h"

#include "executor/training/SessionTrainable.h"
#include "frontend/cli/Commands.h"
#include "frontend/cli/Expect.h"
#include "frontend/cli/InitParams.h"
#include "frontend/cli/NamedModel.h"
#include "frontend/cli/RankMachines.h"
#include "frontend/cli/RealSteps.h"
#include "frontend/cli/ThreadFlags.h"
#include "frontend/cli/TrainFlags.h"
#include "frontend/driver/FitCheck.h"
#include "frontend/driver/RankDevices.h"
#include "frontend/driver/Ranks.h"
#include "frontend/driver/SettingText.h"
#include "passes/planning/rates/MachineRates.h"

namespace lstmc::cli {

namespace {

/// --metric, else that of fit(..); each can be measured.
Result<std::vector<std::string>> metricsOf(const TrainJob &job, const Options &options) {
  LSTMC_ASSIGN(std::vector<std::string> metrics, metricsAsked(options));
  for (const std::string &name : metrics)
    LSTMC_TRY(checkMetric(name, job.model));
  return metrics.empty() ? splitCommas(job.options.fit.metric) : metrics;
}

bool validates(const TrainJob &job) { return job.data.valid || job.data.data->spec().valid > 0; }

/// The entries that training runs.
std::vector<std::string> trainingEntries(const TrainJob &job) {
  return validates(job) ? std::vector<std::string>{"step", "evaluate"}
                        : std::vector<std::string>{"step"};
}

/// Metrics that only validations measure, where there are none.
void warnUnmeasured(const TrainJob &job, Console &console) {
  if (validates(job))
    return;
  for (const std::string &name : job.metrics)
    if (!training::measuredByStep(name))
      console.say(fmt::format("warning: {} is measured in validations only, and there are none: "
                              "--valid 0.1 keeps a tenth of the data for them",
                              name));
}

/// The flags that the network is compiled with: of asynchronous updates, for the rows of a worker.
Checked<Options> compilationOf(const Options &options, TrainJob &job, const NamedModel &named) {
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

Status makeTrainable(TrainJob &job, const Options &compiled) {
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

void sayFound(const FoundParameters &found, const std::string &path, Console &console) {
  console.say(
      fmt::format("init      {} of {} parameters from {}", found.found, found.wanted, path));
  for (const std::string &line : found.others)
    console.say("          " + line);
}

/// The network is compiled here for each length, and one process has them all.
Status checkBuckets(const std::vector<int64_t> &buckets, const TrainJob &job,
                    const NamedModel &named, const Options &options) {
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

/// What the compiler says of a source without a loss, at its line; a package is refused when its
/// entries are looked for.
Diagnostics withoutLoss(const Model &model, const Options &options, ModelRequest request) {
  if (!model.compiled || model.package->findEntry("step"))
    return {};
  request.entries = {"step"};
  return loadModel(options, request).diagnostics();
}

/// Gradients of single parameters are an output of `step` where somebody is told of them. A replay
/// has the program of its run, whatever either prints.
GradientNorms normsTold(const Options &options) {
  const bool logged = *options.format == Form::JsonLines && !options.replay && !saysAsync(options);
  return options.verbose > 0 || options.tensorboard || logged ? GradientNorms::All
                                                              : GradientNorms::Deep;
}

using Attachments = std::vector<std::pair<std::string, std::string>>; ///< file name, contents

/// What a checkpoint keeps of the network: the packages that a training without any report has.
Checked<Attachments> packagesKept(const TrainJob &job, Options options) {
  ModelRequest request = job.request;
  std::optional<Model> plain;
  const bool told = options.gradientNorms || request.norms == GradientNorms::All;
  options.gradientNorms = false;
  request.norms = GradientNorms::Deep;
  if (job.model.compiled && told) {
    LSTMC_CHECKED_ASSIGN(plain, loadModel(options, request));
  }
  const package::PackageData &data = (plain ? *plain : job.model).package->data();
  Attachments kept = {{std::string(training::kPackageFile), packageText(data)}};
  if (job.model.compiled && job.data.vocabulary)
    if (std::optional<std::string> sample = samplePackage(options, request, data))
      kept.push_back({"sample.lstmc", *sample});
  return kept;
}

} // namespace

Checked<TrainJob> prepareTraining(const Options &asked, Console &console) {
  TrainJob job;
  job.request.norms = normsTold(asked);
  job.request.measures = metricsExpected(asked);
  job.request.ofOneWorker = asked.replay.has_value();
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
  if (Diagnostics found = withoutLoss(model, options, job.request); !found.empty())
    return found;
  console.warn(model.warnings);
  LSTMC_CHECKED_ASSIGN(job.options, trainOptions(model, options));
  LSTMC_CHECKED_ASSIGN(job.metrics, metricsOf(job, options));
  warnUnmeasured(job, console);
  if (!buckets.empty()) {
    LSTMC_CHECKED_ASSIGN(job.buckets, compileBuckets(buckets, options, job.request));
  }
  LSTMC_CHECKED_ASSIGN(job.session, openSession(model, options, trainingEntries(job), Engine::Fast,
                                                job.buckets.packages()));
  if (options.initParams) {
    LSTMC_CHECKED_ASSIGN(FoundParameters found,
                         initParams(*job.session, *options.initParams, options));
    sayFound(found, *options.initParams, console);
  }
  LSTMC_CHECKED_TRY(makeTrainable(job, options));
  if (options.resume) {
    LSTMC_CHECKED_ASSIGN(job.checkpoint, checkpointForRanks(options, job.options.folder));
    if (job.checkpoint)
      job.options.folder = job.checkpoint->path();
  }
  LSTMC_CHECKED_ASSIGN(job.options.attachments, packagesKept(job, options));
  LSTMC_CHECKED_ASSIGN(double real, realSteps(job.package(), *job.data.data, job.options.seed));
  LSTMC_CHECKED_ASSIGN(RankMachines here, rankMachines(job.package(), job.session->peers(),
                                                       deviceHere(*job.session).threads()));
  job.forecast = planning::forecastPackage(job.package(), here.machines, real);
  job.messages = here.messages;
  return job;
}

} // namespace lstmc::cli
