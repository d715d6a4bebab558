#include "frontend/lnet/net/Schedules.h"

#include "executor/abi/Schedules.h"

namespace lstmc::lnet {

template <size_t Row> Value Schedules::ofRow(Arguments &arguments) {
  return schedule(arguments, kSchedules[Row]);
}

std::span<const BuiltinRow<Schedules>> Schedules::functions() {
  static constexpr BuiltinRow<Schedules> kTable[] = {
#define LSTMC_SCHEDULE(ID, NAME, SHOWN, MEANING, ...)                                              \
  {SHOWN, &Schedules::ofRow<size_t(ScheduleKind::ID) - 1>},
#include "executor/abi/Schedules.def"
  };
  return kTable;
}

std::string scheduleNames() {
  std::string names;
  for (const ScheduleRow &row : kSchedules)
    names += fmt::format("{}{}(..)", names.empty() ? "" : ", ", row.shown);
  return names;
}

namespace {

/// The arguments of the row, and those that all schedules have.
std::vector<ScheduleArgument> argumentsOf(const ScheduleRow &row) {
  std::vector<ScheduleArgument> all;
  for (const ScheduleArgument &argument : row.arguments)
    if (!argument.name.empty())
      all.push_back(argument);
  all.push_back({"base_lr"});
  all.insert(all.end(), std::begin(kWarmUp), std::end(kWarmUp));
  return all;
}

/// An argument of a schedule as an attribute; E0204 and nullopt for a value of another kind.
std::optional<symbol::AttributeValue> scheduleArgument(Run &run, const ScheduleArgument &argument,
                                                       const Value &value, const Expr *place) {
  switch (argument.kind) {
  case ArgumentKind::Word:
    if (value.is(ValueKind::String) && (value.string() == "linear" || value.string() == "constant"))
      return value.string();
    run.error(ErrorCode::E0204, place->span, "{} is one of linear, constant, got {}", argument.name,
              reprOf(value));
    return std::nullopt;
  case ArgumentKind::Counts: {
    symbol::Tuple counts;
    bool good = value.isSequence() && !value.items().empty();
    if (good)
      for (const Value &item : value.items()) {
        good &= item.is(ValueKind::Integer) && (counts.empty() || *counts.back() < item.integer());
        if (good)
          counts.push_back(item.integer());
      }
    if (good)
      return counts;
    run.error(ErrorCode::E0204, place->span, "{} is a list of growing integers, got {}",
              argument.name, reprOf(value));
    return std::nullopt;
  }
  case ArgumentKind::Count:
    if (value.is(ValueKind::Integer))
      return value.integer();
    run.error(ErrorCode::E0204, place->span, "{} is an integer, got {}", argument.name,
              reprOf(value));
    return std::nullopt;
  case ArgumentKind::Number:
    if (value.isNumber())
      return value.number();
    run.error(ErrorCode::E0204, place->span, "{} is a number, got {}", argument.name,
              reprOf(value));
    return std::nullopt;
  }
  return std::nullopt;
}

} // namespace

Value Schedules::schedule(Arguments &arguments, const ScheduleRow &row) {
  std::vector<ScheduleArgument> all = argumentsOf(row);
  std::vector<std::string_view> names;
  for (const ScheduleArgument &argument : all)
    names.push_back(argument.name);
  std::vector<Value> values;
  std::vector<const Expr *> places;
  if (arguments.unknown ||
      !bindArguments(run_, row.shown, "attribute", arguments, names, values, &places))
    return Value::unknown();
  Value made = run_.heap.make<SchedulerObject>();
  auto &scheduler = made.as<SchedulerObject>();
  scheduler.name = row.name;
  for (size_t i = 0; i < all.size(); ++i) {
    const Value &value = values[i];
    if (value.is(ValueKind::Unset) && all[i].required)
      return run_.error(ErrorCode::E0203, calleeSpan(arguments.call), "{} needs {}", row.shown,
                        names[i]);
    if (value.is(ValueKind::Unset) || value.is(ValueKind::None))
      continue;
    if (value.isUnknown())
      return value;
    std::optional<symbol::AttributeValue> taken = scheduleArgument(run_, all[i], value, places[i]);
    if (!taken)
      return Value::unknown();
    scheduler.arguments.push_back({std::string(names[i]), std::move(*taken)});
  }
  return made;
}

} // namespace lstmc::lnet
