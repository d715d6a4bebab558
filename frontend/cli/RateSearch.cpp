#include "frontend/cli/RateSearch.h"

#include <cmath>

namespace lstmc::cli {

using Json = nlohmann::ordered_json;

static Json numberOrNull(double value) { return std::isfinite(value) ? Json(value) : Json(); }

static Json searchJson(const training::RateFindings &found, const Options &options) {
  Json trials = Json::array();
  for (const training::RateTrial &trial : found.trials)
    trials.push_back({{"learning_rate", trial.rate},
                      {"loss", numberOrNull(trial.loss)},
                      {"smooth_loss", numberOrNull(trial.smooth)}});
  return {{"schema", "lstmc.lr-find/1"},
          {"model", options.operands[0]},
          {"trials", trials},
          {"diverged", found.diverged},
          {"learning_rate", found.rate ? Json(*found.rate) : Json()}};
}

static Result<training::RateSearch> searchAsked(const Options &options) {
  training::RateSearch search;
  if (!options.after)
    return search;
  search.updates = int64_t(options.after->value);
  if (options.after->unit != training::Amount::Unit::Updates || search.updates < 2)
    return fail(ErrorCode::E0001, "--lr-find takes --after of 2u or more, got {}",
                options.after->text());
  return search;
}

CommandResult searchRate(training::Trainable &model, const data::DataSet &data, uint64_t seed,
                         const Options &options, Console &console) {
  LSTMC_CHECKED_ASSIGN(training::RateSearch search, searchAsked(options));
  LSTMC_CHECKED_ASSIGN(training::RateFindings found, training::findRate(model, data, seed, search));
  if (console.json()) {
    console.print(searchJson(found, options));
    return ExitCode::Ok;
  }
  console.print(std::string("learning_rate  loss      smooth"));
  for (const training::RateTrial &trial : found.trials)
    console.print(fmt::format("{:<13.4g}  {:<8.5g}  {:.5g}", trial.rate, trial.loss, trial.smooth));
  if (found.diverged)
    console.say("stopped   the loss diverged");
  console.print(found.rate
                    ? fmt::format("steepest fall of the loss at --lr {:.3g}", *found.rate)
                    : std::string("the loss never fell: other rates, more updates or another net"));
  return ExitCode::Ok;
}

} // namespace lstmc::cli
