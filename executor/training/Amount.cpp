#include "executor/training/Amount.h"

#include <cmath>

#include "executor/base/ParseNumber.h"
#include "executor/base/Quote.h"

namespace lstmc::training {

Result<Amount> Amount::parse(std::string_view text, std::string_view flag) {
  struct Suffix {
    std::string_view name;
    double factor;
    Unit unit;
  };
  constexpr Suffix kSuffixes[] = {
      {"Ku", 1e3, Unit::Updates},  {"Mu", 1e6, Unit::Updates}, {"Gu", 1e9, Unit::Updates},
      {"Kt", 1e3, Unit::Labels},   {"Mt", 1e6, Unit::Labels},  {"Gt", 1e9, Unit::Labels},
      {"ms", 1e-3, Unit::Seconds}, {"e", 1, Unit::Epochs},     {"u", 1, Unit::Updates},
      {"t", 1, Unit::Labels},      {"s", 1, Unit::Seconds},    {"m", 60, Unit::Seconds},
      {"h", 3600, Unit::Seconds}};
  for (const Suffix &suffix : kSuffixes) {
    if (!text.ends_with(suffix.name))
      continue;
    std::optional<double> number = parseFinite(text.substr(0, text.size() - suffix.name.size()));
    const double value = number.value_or(0) * suffix.factor;
    if (!(value >= kLeast && value <= kMost))
      break;
    return Amount{value, suffix.unit};
  }
  return fail(ErrorCode::E0001, "{}: found {}, want {}", flag, inQuotes(text), kForms);
}

std::string Amount::text() const {
  constexpr std::string_view kNames[] = {"e", "u", "t", "s"};
  return fmt::format("{}{}", value, kNames[size_t(unit)]);
}

double Amount::share(const Progress &progress) const {
  switch (unit) {
  case Unit::Epochs:
    return progress.epoch / value;
  case Unit::Updates:
    return double(progress.update) / value;
  case Unit::Labels:
    return double(progress.labels) / value;
  case Unit::Seconds:
    break;
  }
  return progress.seconds / value;
}

bool Amount::passed(const Progress &before, const Progress &now) const {
  return std::floor(share(now)) > std::floor(share(before));
}

} // namespace lstmc::training
