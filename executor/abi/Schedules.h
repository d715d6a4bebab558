// The types and the table of learning-rate schedules.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

namespace lstmc {

inline constexpr double kNoMost = std::numeric_limits<double>::infinity();

enum class ArgumentKind : uint8_t {
  Number,
  Count,  ///< an integer
  Counts, ///< a list of integers, ascending
  Word,   ///< one of the words linear and constant
};

struct ScheduleArgument {
  std::string_view name;
  ArgumentKind kind = ArgumentKind::Number;
  double fallback = 0, least = 0, most = kNoMost;
  bool required = false;
};

enum class ScheduleKind : uint8_t {
  Constant,
#define LSTMC_SCHEDULE(ID, NAME, SHOWN, MEANING, ...) ID,
#include "executor/abi/Schedules.def"
};

struct ScheduleRow {
  ScheduleKind kind;
  std::string_view name;
  std::string_view shown; ///< name in the language: MXNet's class
  std::string_view meaning;
  ScheduleArgument arguments[5] = {}; ///< its own arguments; unused entries have an empty name
};

inline constexpr ScheduleRow kSchedules[] = {
#define LSTMC_SCHEDULE(ID, NAME, SHOWN, MEANING, ...)                                              \
  {ScheduleKind::ID, NAME, SHOWN, MEANING, __VA_ARGS__},
#include "executor/abi/Schedules.def"
};

/// Arguments of every schedule. While n < w, the rate is warmup_begin_lr + (base - warmup_begin_lr)
/// * n / w, or warmup_begin_lr if the mode is constant.
inline constexpr ScheduleArgument kWarmUp[] = {
    {"warmup_steps", ArgumentKind::Count, 0, 0},
    {"warmup_begin_lr", ArgumentKind::Number, 0, 0},
    {"warmup_mode", ArgumentKind::Word},
};

/// Finds a schedule by either name.
constexpr const ScheduleRow *findSchedule(std::string_view name) {
  for (const ScheduleRow &row : kSchedules)
    if (row.name == name || row.shown == name)
      return &row;
  return nullptr;
}

} // namespace lstmc
