#include "executor/training/FitSettings.h"

#include <algorithm>
#include <cmath>

#include <fmt/ranges.h>

#include "executor/abi/Optimizers.h"
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
    if (!findOptimizer(value))
      return fail(ErrorCode::E0001, "fit key optimizer: found {}, want one of {}", inQuotes(value),
                  fmt::join(optimizerNames(), ", "));
    optimizer = value;
  } else if (key == "learning_rate") {
    LSTMC_ASSIGN(learningRate, real(0, HUGE_VAL));
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
  } else if (const OptimizerKey *known = findOptimizerKey(key)) {
    LSTMC_ASSIGN(double number, parseOptimizerKey(*known, value));
    if (value == "None")
      keys.erase(std::string(key));
    else
      keys.insert_or_assign(std::string(key), number);
    return std::ranges::any_of(kOptimizers, [&](const Optimizer &row) { return row.key(key); });
  } else {
    return false;
  }
  return true;
}

const Optimizer &FitSettings::row() const { return *findOptimizer(optimizer); }

double FitSettings::baseRate() const { return learningRate.value_or(row().rate); }

Result<double> parseOptimizerKey(const OptimizerKey &key, std::string_view text) {
  if (text == "None")
    return key.fallback;
  std::optional<double> number = parseReal(text);
  if (key.yesNo && (text == "True" || text == "yes"))
    number = 1;
  if (key.yesNo && (text == "False" || text == "no"))
    number = 0;
  if (number && key.takes(*number))
    return *number;
  return fail(
      ErrorCode::E0001, "fit key {}: found {}, want {}", key.name, inQuotes(text),
      key.yesNo
          ? "True or False"
          : fmt::format("a number from {}{}", key.least,
                        std::isfinite(key.below) ? fmt::format(" to below {}", key.below) : ""));
}

std::vector<std::string_view> optimizerNames() {
  std::vector<std::string_view> names;
  for (const Optimizer &row : kOptimizers)
    names.push_back(row.name);
  return names;
}

} // namespace lstmc::training
