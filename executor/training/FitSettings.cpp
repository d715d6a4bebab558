#include "executor/training/FitSettings.h"

#include <cmath>

#include "executor/base/Quote.h"
#include "executor/training/Numbers.h"

namespace lstmc::training {

Result<bool> FitSettings::set(std::string_view key, std::string_view value) {
  auto real = [&](double least, double below) -> Result<double> {
    std::optional<double> number = parseReal(value);
    if (!number || *number < least || *number >= below)
      return fail(ErrorCode::E0001, "fit key {}: found {}, want a number from {}{}", key,
                  inQuotes(value), least,
                  std::isfinite(below) ? fmt::format(" to below {}", below) : "");
    return *number;
  };
  if (key == "optimizer") {
    if (value != "sgd" && value != "adam")
      return fail(ErrorCode::E0001, "fit key optimizer: found {}, want sgd or adam",
                  inQuotes(value));
    optimizer = value;
  } else if (key == "learning_rate") {
    LSTMC_ASSIGN(learningRate, real(0, HUGE_VAL));
  } else if (key == "beta1") {
    LSTMC_ASSIGN(beta1, real(0, 1));
  } else if (key == "beta2") {
    LSTMC_ASSIGN(beta2, real(0, 1));
  } else if (key == "lr_scheduler") {
    LSTMC_ASSIGN(schedule, Schedule::parse(value));
  } else if (key == "num_epoch" || key == "num_update") {
    std::optional<int64_t> number = parseInteger(value);
    if (!number || *number < 1)
      return fail(ErrorCode::E0001, "fit key {}: found {}, want a count from 1", key,
                  inQuotes(value));
    after =
        Amount{double(*number), key == "num_epoch" ? Amount::Unit::Epochs : Amount::Unit::Updates};
  } else if (key == "seed") {
    std::optional<int64_t> number = parseInteger(value);
    if (!number || *number < 0)
      return fail(ErrorCode::E0001, "fit key seed: found {}, want a number from 0",
                  inQuotes(value));
    seed = uint64_t(*number);
  } else if (key == "eval_metric") {
    metric = value;
  } else {
    return false;
  }
  return true;
}

double FitSettings::baseRate() const {
  return learningRate.value_or(optimizer == "adam" ? 1e-3 : 1e-2);
}

static double power(double base, int64_t exponent) {
  double result = 1;
  for (; exponent > 0; exponent >>= 1, base *= base)
    if (exponent & 1)
      result *= base;
  return result;
}

double stepRate(const FitSettings &fit, int64_t n) {
  double rate = fit.schedule.rate(fit.baseRate(), n);
  if (fit.optimizer != "adam")
    return rate;
  return rate * std::sqrt(1 - power(fit.beta2, n)) / (1 - power(fit.beta1, n));
}

} // namespace lstmc::training
