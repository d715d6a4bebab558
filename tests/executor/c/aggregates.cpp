// Prints lstmc/schedules.hpp or lstmc/optimizers.hpp: an aggregate for each row of
// executor/abi/Schedules.def or Optimizers.def, its fields in alphabetical order.
//
//   aggregates schedules|optimizers
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "executor/abi/Optimizers.h"
#include "executor/abi/Schedules.h"

namespace {

struct Field {
  std::string name, type, fallback, meaning;
};

std::string number(double value) {
  return std::isinf(value) ? "no_bound" : fmt::format("{}", value);
}

void printStruct(const std::string &name, std::string_view text, std::string_view comment,
                 std::vector<Field> fields, bool rate) {
  std::ranges::sort(fields, {}, &Field::name);
  if (rate)
    fields.insert(fields.begin(), {"rate", "double", "0", "of the first update; 0: the network's"});
  std::string line = "///";
  for (size_t at = 0; at < comment.size();) {
    const size_t end = std::min(comment.find(' ', at), comment.size());
    if (line.size() + 1 + (end - at) > 100) {
      fmt::print("{}\n", line);
      line = "///";
    }
    line += fmt::format(" {}", comment.substr(at, end - at));
    at = end + 1;
  }
  fmt::print("{}\nstruct {} {{\n", line, name);
  for (const Field &field : fields) {
    if (!field.meaning.empty())
      fmt::print("  /// {}\n", field.meaning);
    fmt::print("  {} {} = {};\n", field.type, field.name, field.fallback);
  }
  fmt::print("\n  static constexpr std::string_view name = \"{}\";\n"
             "  template <typename F> void each(F f) const {{\n",
             text);
  for (const Field &field : fields)
    if (field.name != "rate")
      fmt::print("    f(\"{0}\", {0});\n", field.name);
  if (fields.empty())
    fmt::print("    (void)f;\n");
  fmt::print("  }}\n}};\n\n");
}

std::string upperCamel(std::string_view name) {
  std::string text(name);
  text[0] = char(std::toupper(static_cast<unsigned char>(text[0])));
  if (text == "Adamw" || text == "Rmsprop")
    text = text == "Adamw" ? "AdamW" : "RmsProp";
  return text;
}

Field fieldOf(const lstmc::ScheduleArgument &argument) {
  Field field{std::string(argument.name), "double", number(argument.fallback), ""};
  switch (argument.kind) {
  case lstmc::ArgumentKind::Number:
    break;
  case lstmc::ArgumentKind::Count:
    field.type = "std::int64_t";
    break;
  case lstmc::ArgumentKind::Counts:
    field.type = "std::vector<std::int64_t>";
    field.fallback = "{}";
    break;
  case lstmc::ArgumentKind::Word:
    field.type = "std::string_view";
    field.fallback = "\"linear\"";
    field.meaning = "or \"constant\"";
    break;
  }
  return field;
}

void printSchedules() {
  for (const lstmc::ScheduleRow &row : lstmc::kSchedules) {
    std::vector<Field> fields;
    for (const lstmc::ScheduleArgument &argument : row.arguments)
      if (!argument.name.empty())
        fields.push_back(fieldOf(argument));
    for (const lstmc::ScheduleArgument &argument : lstmc::kWarmUp)
      fields.push_back(fieldOf(argument));
    std::string name(row.shown.substr(0, row.shown.size() - std::string_view("Scheduler").size()));
    printStruct(name, row.name, std::string(row.meaning) + ".", fields, true);
  }
}

void printOptimizers() {
  std::string all;
  for (const lstmc::Optimizer &row : lstmc::kOptimizers) {
    std::vector<Field> fields;
    auto add = [&](const lstmc::OptimizerKey &key) {
      if (key.name.empty())
        return;
      Field field{std::string(key.name), "double", number(key.fallback), std::string(key.meaning)};
      if (key.yesNo) {
        field.type = "bool";
        field.fallback = key.fallback != 0 ? "true" : "false";
      }
      fields.push_back(std::move(field));
    };
    for (const lstmc::OptimizerKey &key : row.keys)
      add(key);
    add(*lstmc::findOptimizerKey("wd"));
    printStruct(upperCamel(row.name), row.name,
                fmt::format("The optimizer \"{}\"; its rate is {} unless one is given.", row.name,
                            row.rate),
                fields, false);
    all += (all.empty() ? "" : ", ") + upperCamel(row.name);
  }
  fmt::print(
      "/// None: the network's own.\nusing Optimizer = std::variant<std::monostate, {}>;\n\n", all);
}

} // namespace

int main(int argc, char **argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  const bool schedules = what == "schedules";
  if (!schedules && what != "optimizers")
    return 2;
  fmt::print("// {}\n", schedules ? "Learning-rate schedules." : "Optimizers, for the compiler.");
  fmt::print("//\n// Made from executor/abi/{0}.def by tests/executor/c/aggregates.cpp; a test "
             "compares them.\n",
             schedules ? "Schedules" : "Optimizers");
  const std::string_view guard = schedules ? "LSTMC_SCHEDULES_HPP" : "LSTMC_OPTIMIZERS_HPP";
  fmt::print("// clang-format off\n#ifndef {0}\n#define {0}\n\n#include <lstmc/error.hpp>\n\n"
             "#include <cstdint>\n",
             guard);
  fmt::print("{}",
             schedules ? "#include <vector>\n\n" : "#include <limits>\n#include <variant>\n\n");
  fmt::print("namespace lstmc {{\ninline namespace LSTMC_ABI {{\n\n");
  if (!schedules)
    fmt::print("/// The value of a bound that does not limit.\n"
               "inline constexpr double no_bound = std::numeric_limits<double>::infinity();\n\n");
  schedules ? printSchedules() : printOptimizers();
  fmt::print("}} // namespace LSTMC_ABI\n}} // namespace lstmc\n\n#endif\n");
  return 0;
}
