#include "executor/c/FitOptions.h"

#include <cmath>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

#include "executor/base/Commas.h"
#include "executor/c/CallerStruct.h"
#include "executor/training/Checkpoint.h"

namespace lstmc::c {

namespace {

/// What a checkpoint keeps of the network, as the command's have it: the package, and that of one
/// symbol, where it is there.
void addPackages(const lstmc_package &handle, training::TrainOptions &options) {
  auto add = [&](std::string_view name, const package::Package::Pointer &package) {
    const package::Bytes bytes = package::serialize(package->data());
    options.attachments.emplace_back(
        name, std::string(reinterpret_cast<const char *>(bytes.data()), bytes.size()));
  };
  add(training::kPackageFile, handle.package);
  if (!handle.others.empty())
    add(training::kSamplePackageFile, handle.others.front());
}

Status readAmounts(const lstmc_fit_options &given, training::TrainOptions &options) {
  if (options.fit.after)
    options.after = *options.fit.after;
  struct Text {
    const char *text;
    std::string_view name;
    training::Amount &amount;
  };
  for (const Text &each : {Text{given.after, "after", options.after},
                           {given.valid_every, "valid_every", options.validEvery},
                           {given.save_every, "save_every", options.saveEvery},
                           {given.disp_every, "disp_every", options.dispEvery}})
    if (each.text) {
      LSTMC_ASSIGN(each.amount, training::Amount::parse(each.text, each.name));
    }
  return {};
}

Status readRates(const lstmc_fit_options &given, training::FitSettings &fit) {
  if (!(given.learning_rate >= 0) || std::isinf(given.learning_rate))
    return fail(ErrorCode::E0001,
                "learning_rate: found {}, want a number above 0, or 0 for that "
                "of the network",
                given.learning_rate);
  if (given.learning_rate > 0)
    fit.learningRate = given.learning_rate;
  if (!given.schedule)
    return {};
  if (std::string_view(given.schedule) == "constant") {
    fit.schedule = {};
    return {};
  }
  LSTMC_ASSIGN(fit.schedule, training::Schedule::parse(given.schedule));
  return {};
}

Status readFolder(const lstmc_fit_options &given, training::TrainOptions &options) {
  options.folder = given.output ? given.output : "";
  options.overwrite = given.overwrite != 0;
  options.keep = given.keep == 0 ? options.keep : given.keep;
  if (given.keep < 0 || given.early_stop < 0)
    return fail(ErrorCode::E0001, "keep and early_stop: found {} and {}, want counts from 0",
                given.keep, given.early_stop);
  switch (given.resume) {
  case LSTMC_RESUME_NO:
    break;
  case LSTMC_RESUME_YES:
    options.resume = true;
    break;
  case LSTMC_RESUME_AUTOMATIC:
    options.resume = !options.folder.empty() && !training::listCheckpoints(options.folder).empty();
    break;
  default:
    return fail(ErrorCode::E0001, "resume: found {}, want an lstmc_resume", int(given.resume));
  }
  if (options.resume && options.folder.empty())
    return fail(ErrorCode::E0001, "resume goes on from checkpoints, and output names no folder");
  return {};
}

} // namespace

Result<lstmc_fit_options> checkedOptions(const lstmc_fit_options *given) {
  if (!given)
    return lstmc_fit_options{};
  // The first version ended where metrics of the program's own begin.
  if (given->size < offsetof(lstmc_fit_options, own_metrics) || !restIsZero(*given))
    return fail(ErrorCode::E0001, "fit options: found size {}, of which lstmc {} knows {}",
                given->size, LSTMC_VERSION, sizeof *given);
  return taken(*given);
}

Result<std::vector<std::string>> metricsNamed(const lstmc_trainer &trainer, const char *list) {
  const std::vector<std::string> names = splitCommas(list ? list : "");
  for (const std::string &name : names)
    LSTMC_TRY(training::checkMeasured(trainer.model->heads(), name));
  return names;
}

/// What judges validations, by own metrics too, which are checked already.
static Status readJudge(const lstmc_trainer &trainer, const lstmc_fit_options &given,
                        training::TrainOptions &options) {
  if (!(given.min_delta >= 0) || std::isinf(given.min_delta))
    return fail(ErrorCode::E0001, "min_delta: found {}, want a number from 0", given.min_delta);
  options.minDelta = given.min_delta;
  if (!given.judge || std::string_view(given.judge) == options.judge)
    return {};
  options.judge = given.judge;
  const size_t ownCount = given.own_metrics ? given.own_metric_count : 0;
  for (const lstmc_own_metric &own : std::span(given.own_metrics, ownCount))
    if (own.name && options.judge == own.name) {
      options.largerIsBetter = given.larger_is_better != 0;
      return {};
    }
  LSTMC_TRY(training::checkMeasured(trainer.model->heads(), options.judge));
  options.largerIsBetter = training::largerIsBetter(options.judge);
  return {};
}

Result<training::TrainOptions> trainOptions(const lstmc_trainer &trainer,
                                            const lstmc_fit_options &given) {
  training::TrainOptions options;
  options.fit = trainer.fit;
  LSTMC_TRY(readRates(given, options.fit));
  LSTMC_TRY(readAmounts(given, options));
  LSTMC_TRY(readFolder(given, options));
  LSTMC_ASSIGN(options.metrics,
               metricsNamed(trainer, given.metrics ? given.metrics : options.fit.metric.c_str()));
  options.earlyStop = given.early_stop;
  LSTMC_TRY(readJudge(trainer, given, options));
  options.seed = given.has_seed != 0 ? given.seed : options.fit.seed.value_or(0);
  options.signals = given.signals != 0;
  options.version = LSTMC_VERSION;
  if (!options.folder.empty())
    addPackages(trainer.session->package, options);
  return options;
}

} // namespace lstmc::c
