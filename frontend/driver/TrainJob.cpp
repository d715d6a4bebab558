#include "frontend/driver/TrainJob.h"

#include <algorithm>

#include "executor/training/SessionTrainable.h"
#include "frontend/driver/FitCheck.h"
#include "frontend/driver/InitParams.h"
#include "frontend/driver/NamedModel.h"
#include "frontend/driver/RankDevices.h"
#include "frontend/driver/RankMachines.h"
#include "frontend/driver/Ranks.h"
#include "frontend/driver/RealSteps.h"
#include "frontend/driver/SettingText.h"
#include "frontend/driver/Threads.h"
#include "frontend/driver/TrainOptions.h"
#include "passes/planning/rates/MachineRates.h"

namespace lstmc::driver {

namespace {

/// --metric, else that of fit(..); each can be measured.
Result<std::vector<std::string>> metricsOf(const TrainJob &job, const TrainRequest &options) {
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
void warnUnmeasured(const TrainJob &job, const Notices &notices) {
  if (validates(job))
    return;
  for (const std::string &name : job.metrics)
    if (!training::measuredByStep(name))
      notices.say(fmt::format("warning: {} is measured in validations only, and there are none: "
                              "--valid 0.1 keeps a tenth of the data for them",
                              name));
}

/// The flags that the network is compiled with: of asynchronous updates, for the rows of a worker.
Checked<TrainRequest> compilationOf(const std::string &path, const TrainRequest &options,
                                    TrainJob &job, const NamedModel &named) {
  LSTMC_CHECKED_ASSIGN(job.async, asyncStoreAsked(options));
  if (!job.async)
    return options;
  if (named.model)
    return asDiagnostic(fail(ErrorCode::E0001,
                             "asynchronous updates compile a network for the "
                             "rows of each worker: give the network, not {}",
                             path));
  return optionsOfWorker(options, *job.async, [&] {
    ModelRequest request = job.request;
    if (job.data.vocabulary)
      request.offeredVocab = int64_t(job.data.vocabulary->size());
    return loadModel(path, options, request);
  });
}

Status makeTrainable(TrainJob &job, const TrainRequest &compiled) {
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

void sayFound(const FoundParameters &found, const std::string &path, const Notices &notices) {
  notices.say(
      fmt::format("init      {} of {} parameters from {}", found.found, found.wanted, path));
  for (const std::string &line : found.others)
    notices.say("          " + line);
}

/// The network is compiled here for each length, and one process has them all.
Status checkBuckets(const std::string &path, const std::vector<int64_t> &buckets,
                    const TrainJob &job, const NamedModel &named) {
  if (buckets.empty())
    return {};
  if (named.model)
    return fail(ErrorCode::E0001,
                "buckets= of the data compile the network for each length: give the network, not "
                "{}",
                path);
  if (job.async || jobRanks() > 1)
    return fail(ErrorCode::E0001, "buckets= of the data are for one process: without launch, with "
                                  "-d 2xcpu for two devices");
  return {};
}

/// What the compiler says of a source without a loss, at its line; a package is refused when its
/// entries are looked for.
Diagnostics withoutLoss(const std::string &path, const Model &model, const TrainRequest &options,
                        ModelRequest request) {
  if (!model.compiled || model.package->findEntry("step"))
    return {};
  request.entries = {"step"};
  return loadModel(path, options, request).diagnostics();
}

using Attachments = std::vector<std::pair<std::string, std::string>>; ///< file name, contents

/// What a checkpoint keeps of the network: the packages that a training without any report has.
Checked<Attachments> packagesKept(const std::string &path, const TrainJob &job,
                                  TrainRequest options) {
  ModelRequest request = job.request;
  std::optional<Model> plain;
  const bool told = options.gradientNorms || request.norms == GradientNorms::All;
  options.gradientNorms = false;
  request.norms = GradientNorms::Deep;
  if (job.model.compiled && told) {
    LSTMC_CHECKED_ASSIGN(plain, loadModel(path, options, request));
  }
  const package::PackageData &data = (plain ? *plain : job.model).package->data();
  Attachments kept = {{std::string(training::kPackageFile), packageText(data)}};
  if (job.model.compiled && job.data.vocabulary)
    if (std::optional<std::string> sample = samplePackage(path, options, request, data))
      kept.push_back({"sample.lstmc", *sample});
  return kept;
}

} // namespace

Checked<TrainJob> prepareTraining(const std::string &path, const TrainRequest &asked,
                                  ModelRequest request, const Notices &notices) {
  TrainJob job;
  job.request = std::move(request);
  job.request.ofOneWorker = asked.replay.has_value();
  LSTMC_CHECKED_ASSIGN(NamedModel named, readNamedModel(path, asked, job.request));
  LSTMC_CHECKED_ASSIGN(job.data, loadData(asked, {.job = "train", .trains = true}, named.data,
                                          named.namer, named.known()));
  measureIfNew(threadsInQuestion(asked), notices);
  LSTMC_CHECKED_ASSIGN(TrainRequest options, compilationOf(path, asked, job, named));
  const std::vector<int64_t> &buckets = job.data.data->spec().buckets;
  LSTMC_CHECKED_TRY(checkBuckets(path, buckets, job, named));
  if (!buckets.empty())
    job.request.bucket = buckets.back();
  LSTMC_CHECKED_ASSIGN(job.model, modelFor(std::move(named), path, job.data, options, job.request));
  const Model &model = job.model;
  if (Diagnostics found = withoutLoss(path, model, options, job.request); !found.empty())
    return found;
  notices.warn(model.warnings);
  LSTMC_CHECKED_ASSIGN(job.options, trainOptions(model, options));
  LSTMC_CHECKED_ASSIGN(job.metrics, metricsOf(job, options));
  warnUnmeasured(job, notices);
  if (!buckets.empty()) {
    LSTMC_CHECKED_ASSIGN(job.buckets, compileBuckets(path, buckets, options, job.request));
  }
  std::vector<symbol::UnknownInitialiser> unknown;
  if (options.initParams) // some of them may be there
    std::swap(unknown, job.model.unknownInitialisers);
  LSTMC_CHECKED_ASSIGN(job.session, openSession(model, options, trainingEntries(job), Engine::Fast,
                                                job.buckets.packages()));
  if (options.initParams) {
    LSTMC_CHECKED_ASSIGN(FoundParameters found, initParams(*job.session, *options.initParams,
                                                           options, job.data.data->learned()));
    std::erase_if(unknown, [&](const symbol::UnknownInitialiser &each) {
      return std::ranges::find(found.initialised, each.parameter) == found.initialised.end();
    });
    LSTMC_CHECKED_TRY(checkInitialisers(unknown));
    sayFound(found, *options.initParams, notices);
  }
  LSTMC_CHECKED_TRY(makeTrainable(job, options));
  if (options.resume) {
    LSTMC_CHECKED_ASSIGN(job.checkpoint, checkpointForRanks(options, job.options.folder));
    if (job.checkpoint)
      job.options.folder = job.checkpoint->path();
  }
  LSTMC_CHECKED_ASSIGN(job.options.attachments, packagesKept(path, job, options));
  LSTMC_CHECKED_ASSIGN(double real, realSteps(job.package(), *job.data.data, job.options.seed));
  LSTMC_CHECKED_ASSIGN(RankMachines here, rankMachines(job.package(), job.session->peers(),
                                                       deviceHere(*job.session).threads()));
  job.forecast = planning::forecastPackage(job.package(), here.machines, real);
  job.messages = here.messages;
  return job;
}

} // namespace lstmc::driver
