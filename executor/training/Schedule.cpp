#include "executor/training/Schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "executor/base/Quote.h"
#include "executor/training/Numbers.h"

namespace lstmc::training {
namespace {

constexpr std::pair<Schedule::Kind, std::pair<std::string_view, std::string_view>> kKinds[] = {
    {Schedule::Kind::Constant, {"constant", "none"}},
    {Schedule::Kind::Factor, {"factor", "FactorScheduler"}},
    {Schedule::Kind::MultiFactor, {"multifactor", "MultiFactorScheduler"}},
    {Schedule::Kind::Poly, {"poly", "PolyScheduler"}},
    {Schedule::Kind::Cosine, {"cosine", "CosineScheduler"}},
};

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ')
    text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ')
    text.remove_suffix(1);
  return text;
}

std::string_view unquoted(std::string_view text) {
  bool quoted = text.size() >= 2 && (text.front() == '"' || text.front() == '\'') &&
                text.back() == text.front();
  return quoted ? text.substr(1, text.size() - 2) : text;
}

/// Splits at commas outside brackets.
std::vector<std::string_view> splitList(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '[' || text[i] == '(';
    depth -= text[i] == ']' || text[i] == ')';
    if (text[i] == ',' && depth == 0) {
      parts.push_back(trim(text.substr(begin, i - begin)));
      begin = i + 1;
    }
  }
  if (!trim(text.substr(begin)).empty())
    parts.push_back(trim(text.substr(begin)));
  return parts;
}

Status setSteps(Schedule &schedule, std::string_view value) {
  std::string_view inside = trim(value);
  bool list = inside.size() >= 2 && (inside.front() == '[' || inside.front() == '(');
  if (list)
    inside = inside.substr(1, inside.size() - 2);
  schedule.steps.clear();
  for (std::string_view part : splitList(inside)) {
    std::optional<int64_t> step = parseInteger(part);
    bool ascending =
        step && *step >= 1 && (schedule.steps.empty() || *step > schedule.steps.back());
    if (!ascending)
      return fail(ErrorCode::E0001, "lr_scheduler step: found {}, want ascending updates from 1",
                  inQuotes(value));
    schedule.steps.push_back(*step);
  }
  schedule.step = schedule.steps.empty() ? 1 : schedule.steps[0];
  return {};
}

Status setArgument(Schedule &schedule, std::string_view key, std::string_view value) {
  struct Real {
    std::string_view key;
    double Schedule::*member;
    double least;
  };
  constexpr Real kReals[] = {{"factor", &Schedule::factor, 0},
                             {"stop_factor_lr", &Schedule::stopFactorRate, 0},
                             {"pwr", &Schedule::power, 0},
                             {"final_lr", &Schedule::finalRate, 0},
                             {"warmup_begin_lr", &Schedule::warmupBeginRate, 0}};
  for (const Real &real : kReals) {
    if (real.key != key)
      continue;
    std::optional<double> number = parseReal(value);
    if (!number || *number < real.least || (key == "factor" && *number > 1))
      return fail(ErrorCode::E0001, "lr_scheduler {}: found {}, want a number from 0{}", key,
                  inQuotes(value), key == "factor" ? " to 1" : "");
    schedule.*real.member = *number;
    return {};
  }
  if (key == "step")
    return setSteps(schedule, value);
  if (key == "max_update" || key == "warmup_steps") {
    std::optional<int64_t> number = parseInteger(value);
    if (!number || *number < (key == "max_update" ? 1 : 0))
      return fail(ErrorCode::E0001, "lr_scheduler {}: found {}, want a count of updates", key,
                  inQuotes(value));
    (key == "max_update" ? schedule.maxUpdate : schedule.warmupSteps) = *number;
    return {};
  }
  if (key == "warmup_mode") {
    std::string_view mode = unquoted(value);
    if (mode != "linear" && mode != "constant")
      return fail(ErrorCode::E0001, "lr_scheduler warmup_mode: found {}, want linear or constant",
                  inQuotes(value));
    schedule.warmupLinear = mode == "linear";
    return {};
  }
  return fail(ErrorCode::E0001,
              "lr_scheduler argument {} is unknown; there are step, factor, stop_factor_lr, "
              "max_update, pwr, final_lr, warmup_steps, warmup_begin_lr, warmup_mode",
              inQuotes(key));
}

} // namespace

Result<Schedule> Schedule::make(std::string_view name,
                                const std::vector<std::pair<std::string, std::string>> &arguments) {
  Schedule schedule;
  auto found = std::find_if(std::begin(kKinds), std::end(kKinds), [&](const auto &known) {
    return known.second.first == name || known.second.second == name;
  });
  if (found == std::end(kKinds))
    return fail(ErrorCode::E0001,
                "lr_scheduler {} is unknown; there are factor, multifactor, poly and cosine",
                inQuotes(name));
  schedule.kind = found->first;
  for (const auto &[key, value] : arguments)
    LSTMC_TRY(setArgument(schedule, key, value));
  bool needsMax = schedule.kind == Kind::Poly || schedule.kind == Kind::Cosine;
  if (needsMax && schedule.maxUpdate <= schedule.warmupSteps)
    return fail(ErrorCode::E0001,
                "lr_scheduler max_update: found {}, want more than warmup_steps {}",
                schedule.maxUpdate, schedule.warmupSteps);
  if (schedule.kind == Kind::MultiFactor && schedule.steps.empty())
    return fail(ErrorCode::E0001, "lr_scheduler step: found none, want a list of updates");
  return schedule;
}

Result<Schedule> Schedule::parse(std::string_view text) {
  text = trim(text);
  size_t open = text.find('(');
  std::vector<std::pair<std::string, std::string>> arguments;
  if (open != text.npos) {
    if (text.back() != ')')
      return fail(ErrorCode::E0001, "lr_scheduler: found {}, want NAME(KEY=VALUE, ...)",
                  inQuotes(text));
    for (std::string_view part : splitList(text.substr(open + 1, text.size() - open - 2))) {
      size_t equals = part.find('=');
      if (equals == part.npos)
        return fail(ErrorCode::E0001, "lr_scheduler: found {}, want KEY=VALUE", inQuotes(part));
      arguments.emplace_back(trim(part.substr(0, equals)), trim(part.substr(equals + 1)));
    }
  }
  return make(trim(text.substr(0, open)), arguments);
}

double Schedule::rate(double base, int64_t n) const {
  if (n < warmupSteps)
    return warmupLinear
               ? warmupBeginRate + (base - warmupBeginRate) * double(n) / double(warmupSteps)
               : warmupBeginRate;
  double rate = base;
  // How far along the falling part is, from 0 to 1.
  double done = double(std::min(n, maxUpdate) - warmupSteps) / double(maxUpdate - warmupSteps);
  switch (kind) {
  case Kind::Constant:
    break;
  case Kind::Factor:
    // Multiplied one by one, as MXNet does: a power would round elsewhere. Ends where nothing
    // changes.
    for (int64_t passed = (n - 1) / step; passed > 0 && factor != 1; --passed) {
      rate *= factor;
      if (rate < stopFactorRate)
        return stopFactorRate;
    }
    break;
  case Kind::MultiFactor:
    for (int64_t border : steps)
      rate *= n > border ? factor : 1;
    break;
  case Kind::Poly:
    return finalRate + (base - finalRate) * std::pow(1 - done, power);
  case Kind::Cosine:
    return finalRate + (base - finalRate) * (1 + std::cos(std::numbers::pi * done)) / 2;
  }
  return rate;
}

} // namespace lstmc::training
