#include "executor/training/Schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/ranges.h>

#include "executor/abi/Schedules.h"
#include "executor/base/ParseNumber.h"
#include "executor/base/Quote.h"
#include "executor/base/ScalarFunctions.h"

namespace lstmc::training {
namespace {

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
    std::optional<int64_t> step = parseNumber<int64_t>(part);
    bool ascending =
        step && *step >= 1 && (schedule.steps.empty() || *step > schedule.steps.back());
    if (!ascending)
      return fail(ErrorCode::E0001, "lr_scheduler step: found {}, want ascending updates from 1",
                  inQuotes(value));
    schedule.steps.push_back(*step);
  }
  return {};
}

/// Counts are kept as doubles, which are exact so far.
double mostOf(const ScheduleArgument &argument) {
  return argument.kind == ArgumentKind::Count ? std::min(argument.most, 1e15) : argument.most;
}

/// "a number from 0 to 1", "a whole number from 1 to 1000000000000000"
std::string wanted(const ScheduleArgument &argument) {
  const double most = mostOf(argument);
  return fmt::format("{} from {}{}",
                     argument.kind == ArgumentKind::Count ? "a whole number" : "a number",
                     argument.least, std::isfinite(most) ? fmt::format(" to {}", most) : "");
}

Status setNumber(Schedule &schedule, const ScheduleArgument &argument, std::string_view value) {
  std::optional<double> number = parseFinite(value);
  if (argument.kind == ArgumentKind::Count) {
    std::optional<int64_t> count = parseNumber<int64_t>(value);
    number = count ? std::optional(double(*count)) : std::nullopt;
  }
  if (!number || *number < argument.least || *number > mostOf(argument))
    return fail(ErrorCode::E0001, "lr_scheduler {}: found {}, want {}", argument.name,
                inQuotes(value), wanted(argument));
  schedule.given.insert_or_assign(std::string(argument.name), *number);
  return {};
}

Status setWarmUpMode(Schedule &schedule, std::string_view value) {
  std::string_view mode = unquoted(value);
  if (mode != "linear" && mode != "constant")
    return fail(ErrorCode::E0001, "lr_scheduler warmup_mode: found {}, want linear or constant",
                inQuotes(value));
  schedule.warmupLinear = mode == "linear";
  return {};
}

/// Those of the row, then those of all.
std::vector<ScheduleArgument> argumentsOf(const ScheduleRow *row) {
  std::vector<ScheduleArgument> all;
  if (row)
    for (const ScheduleArgument &argument : row->arguments)
      if (!argument.name.empty())
        all.push_back(argument);
  all.insert(all.end(), std::begin(kWarmUp), std::end(kWarmUp));
  return all;
}

const ScheduleRow *rowOf(ScheduleKind kind) {
  for (const ScheduleRow &row : kSchedules)
    if (row.kind == kind)
      return &row;
  return nullptr; // constant
}

Status setArgument(Schedule &schedule, std::string_view name, std::string_view key,
                   std::string_view value) {
  std::vector<ScheduleArgument> known = argumentsOf(rowOf(schedule.kind));
  auto argument = std::ranges::find(known, key, &ScheduleArgument::name);
  if (argument == known.end()) {
    std::vector<std::string_view> names;
    for (const ScheduleArgument &each : known)
      names.push_back(each.name);
    return fail(ErrorCode::E0001, "lr_scheduler argument {} is unknown; {} takes {}", inQuotes(key),
                name, fmt::join(names, ", "));
  }
  switch (argument->kind) {
  case ArgumentKind::Counts:
    return setSteps(schedule, value);
  case ArgumentKind::Word:
    return setWarmUpMode(schedule, value);
  default:
    return setNumber(schedule, *argument, value);
  }
}

Status checkComplete(const Schedule &schedule) {
  for (const ScheduleArgument &argument : argumentsOf(rowOf(schedule.kind))) {
    bool there = argument.kind == ArgumentKind::Counts ? !schedule.steps.empty()
                                                       : schedule.given.contains(argument.name);
    if (argument.required && !there)
      return fail(ErrorCode::E0001, "lr_scheduler {}: found none, want {}", argument.name,
                  argument.kind == ArgumentKind::Counts ? "a list of updates" : wanted(argument));
    if (argument.name == "max_update" &&
        schedule.value("max_update") <= schedule.value("warmup_steps"))
      return fail(ErrorCode::E0001,
                  "lr_scheduler max_update: found {}, want more than warmup_steps {}",
                  schedule.value("max_update"), schedule.value("warmup_steps"));
  }
  return {};
}

/// How far n is from the end of the warm-up to max_update, from 0 to 1.
double doneAt(const Schedule &schedule, int64_t n) {
  auto last = int64_t(schedule.value("max_update"));
  auto warmup = int64_t(schedule.value("warmup_steps"));
  return double(std::min(n, last) - warmup) / double(last - warmup);
}

/// From `from` to `to` in half a cosine.
double halfCosine(double from, double to, double share) {
  return to + (from - to) * (1 + functionInF64(ScalarOp::Cos, std::numbers::pi * share)) / 2;
}

// The rates of the rows, after the warm-up.

double rateFactor(const Schedule &schedule, double base, int64_t n, double) {
  double factor = schedule.value("factor"), least = schedule.value("stop_factor_lr");
  // Multiplied one by one, as MXNet does: a power would round elsewhere. Ends where nothing
  // changes.
  double rate = base;
  for (int64_t passed = (n - 1) / int64_t(schedule.value("step")); passed > 0 && factor != 1;
       --passed) {
    rate *= factor;
    if (rate < least)
      return least;
  }
  return rate;
}

double rateMultiFactor(const Schedule &schedule, double base, int64_t n, double) {
  for (int64_t step : schedule.steps)
    base *= n > step ? schedule.value("factor") : 1;
  return base;
}

double ratePoly(const Schedule &schedule, double base, int64_t n, double) {
  double last = schedule.value("final_lr");
  return last + (base - last) *
                    functionInF64(ScalarOp::Pow, 1 - doneAt(schedule, n), schedule.value("pwr"));
}

double rateCosine(const Schedule &schedule, double base, int64_t n, double) {
  return halfCosine(base, schedule.value("final_lr"), doneAt(schedule, n));
}

double rateOneCycle(const Schedule &schedule, double base, int64_t n, double) {
  double first = base / schedule.value("div_factor");
  double last = first / schedule.value("final_div_factor");
  double done = doneAt(schedule, n), up = schedule.value("pct_start");
  return done < up ? halfCosine(first, base, done / up)
                   : halfCosine(base, last, up < 1 ? (done - up) / (1 - up) : 1);
}

double ratePlateau(const Schedule &schedule, double base, int64_t, double plateau) {
  return std::max(base * plateau, std::min(base, schedule.value("min_lr")));
}

using RateFunction = double (*)(const Schedule &, double base, int64_t n, double plateau);
constexpr RateFunction kRates[] = {
#define LSTMC_SCHEDULE(ID, NAME, SHOWN, MEANING, ...) rate##ID,
#include "executor/abi/Schedules.def"
};

} // namespace

Result<Schedule> Schedule::make(std::string_view name,
                                const std::vector<std::pair<std::string, std::string>> &arguments) {
  Schedule schedule;
  const ScheduleRow *row = findSchedule(name);
  if (row) {
    schedule.kind = row->kind;
  } else if (name != "constant" && name != "none") {
    std::vector<std::string_view> names;
    for (const ScheduleRow &each : kSchedules)
      names.push_back(each.name);
    return fail(ErrorCode::E0001, "lr_scheduler {} is unknown; there are {}", inQuotes(name),
                fmt::join(names, ", "));
  }
  for (const auto &[key, value] : arguments)
    LSTMC_TRY(setArgument(schedule, name, key, value));
  LSTMC_TRY(checkComplete(schedule));
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

double Schedule::value(std::string_view argument) const {
  if (auto found = given.find(argument); found != given.end())
    return found->second;
  for (const ScheduleArgument &each : argumentsOf(rowOf(kind)))
    if (each.name == argument)
      return each.fallback;
  return 0;
}

double Schedule::rate(double base, int64_t n, double plateau) const {
  double steps = value("warmup_steps"), begin = value("warmup_begin_lr");
  if (double(n) < steps)
    return warmupLinear ? begin + (base - begin) * double(n) / steps : begin;
  return kind == ScheduleKind::Constant ? base : kRates[int(kind) - 1](*this, base, n, plateau);
}

void PlateauState::see(const Schedule &schedule, double loss) {
  bool better = std::isfinite(loss) && (!best || loss < *best * (1 - schedule.value("threshold")));
  if (better)
    best = loss;
  worse = better ? 0 : worse + 1;
  if (cooldown > 0) {
    --cooldown;
    worse = 0;
  }
  if (double(worse) <= schedule.value("patience"))
    return;
  scale *= schedule.value("factor");
  cooldown = int64_t(schedule.value("cooldown"));
  worse = 0;
}

} // namespace lstmc::training
