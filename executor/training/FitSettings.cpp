#include "executor/training/FitSettings.h"

#include <algorithm>
#include <cmath>

#include <fmt/ranges.h>

#include "executor/abi/Optimizers.h"
#include "executor/base/ParseNumber.h"
#include "executor/base/Quote.h"
#include "executor/session/UpdateScalars.h"

namespace lstmc::training {

Result<bool> FitSettings::set(std::string_view key, std::string_view value) {
  auto real = [&](double least, double below) -> Result<double> {
    std::optional<double> number = parseFinite(value);
    if (!number || *number < least || *number >= below)
      return fail(ErrorCode::E0001, "fit key {}: found {}, want a number from {}{}", key,
                  inQuotes(value), least,
                  std::isfinite(below) ? fmt::format(" to below {}", below) : "");
    return *number;
  };
  if (key == "optimizer") {
    if (!findOptimizer(value))
      return fail(ErrorCode::E0001, "fit key optimizer: found {}, want one of {}", inQuotes(value),
                  fmt::join(session::optimizerNames(), ", "));
    optimizer = value;
  } else if (key == "learning_rate") {
    LSTMC_ASSIGN(learningRate, real(0, HUGE_VAL));
  } else if (key == "lr_scheduler") {
    LSTMC_ASSIGN(schedule, Schedule::parse(value));
  } else if (key == "num_epoch" || key == "num_update") {
    std::optional<int64_t> number = parseNumber<int64_t>(value);
    if (!number || *number < 1)
      return fail(ErrorCode::E0001, "fit key {}: found {}, want a count from 1", key,
                  inQuotes(value));
    after =
        Amount{double(*number), key == "num_epoch" ? Amount::Unit::Epochs : Amount::Unit::Updates};
  } else if (key == "seed") {
    std::optional<int64_t> number = parseNumber<int64_t>(value);
    if (!number || *number < 0)
      return fail(ErrorCode::E0001, "fit key seed: found {}, want a number from 0",
                  inQuotes(value));
    seed = uint64_t(*number);
  } else if (key == "eval_metric") {
    metric = value;
  } else if (const OptimizerKey *known = findOptimizerKey(key)) {
    LSTMC_TRY(session::parseOptimizerKey(*known, value).status());
    return std::ranges::any_of(kOptimizers, [&](const Optimizer &row) { return row.key(key); });
  } else {
    return false;
  }
  return true;
}

Result<FitSettings> FitSettings::of(const std::vector<package::Setting> &settings) {
  FitSettings fit;
  for (const package::Setting &setting : settings)
    LSTMC_TRY(fit.set(setting.name, setting.value).status());
  return fit;
}

const Optimizer &FitSettings::row() const { return *findOptimizer(optimizer); }

double FitSettings::baseRate() const { return learningRate.value_or(row().rate); }

} // namespace lstmc::training
