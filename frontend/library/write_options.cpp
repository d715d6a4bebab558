// Writes options.hpp: CompileOptions with a field for each record of request.def that changes a
// package, and initialisers as aggregates, from their tables.
#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "frontend/library/OptionNames.h"
#include "frontend/symbol/Initialisers.h"

using lstmc::library::fieldName;

namespace {

/// A record of request.def.
struct Record {
  std::string_view flag, type, fallback, help;
};
constexpr Record kRecords[] = {
#define LSTMC_FIELD(FIELD, NAME, LETTER, TYPE, ARGUMENT, DEFAULT, GROUP, HELP, ...)                \
  {NAME, #TYPE, DEFAULT, HELP},
#include "frontend/library/compile_fields.def"
};

/// Those that have a form of their own in CompileOptions: HEAD below has them. `batch` is one of
/// dims, `lr` and `metric` are of the loop.
bool hasOwnForm(std::string_view flag) {
  for (std::string_view own : {"set", "shape", "entry", "devices", "place", "kv-store", "mem",
                               "optimizer", "fit", "dtype", "batch", "lr", "metric"})
    if (flag == own)
      return true;
  return false;
}

/// "Many<Text>" as a type of the standard library.
std::string_view typeOf(std::string_view type) {
  if (type == "Switch")
    return "bool";
  if (type.find("Counts>") != type.npos)
    return "std::vector<std::int64_t>";
  if (type.find("NamedCount>") != type.npos)
    return "std::vector<std::pair<std::string, std::int64_t>>";
  if (type.starts_with("Many") || type.find("Words>") != type.npos)
    return "std::vector<std::string>";
  if (type.find("Count>") != type.npos)
    return "std::optional<std::int64_t>";
  return "std::string"; // "": not given
}

/// A comment in lines of at most 100 columns.
std::string comment(std::string_view text) {
  std::string lines = "  ///";
  for (size_t column = 5; !text.empty();) {
    const size_t end = std::min(text.find(' '), text.size());
    if (column + 1 + end > 100) {
      lines += "\n  ///";
      column = 5;
    }
    lines += fmt::format(" {}", text.substr(0, end));
    column += 1 + end;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines + "\n";
}

/// Fields that are words, and not numbers.
bool isWord(std::string_view parameter) { return parameter.ends_with("_type"); }

void writeInitialisers() {
  for (const lstmc::symbol::InitialiserRow &row : lstmc::symbol::kInitialisers) {
    std::string fields, adds;
    for (std::string_view parameter : row.parameters) {
      if (parameter.empty())
        continue;
      const bool needed = row.required && parameter == row.parameters[0];
      fields += isWord(parameter) ? fmt::format("  std::string {}{{}};\n", parameter)
                : needed          ? fmt::format("  double {};\n", parameter)
                                  : fmt::format("  std::optional<double> {}{{}};\n", parameter);
      adds += fmt::format("  add(\"{}\", from.{});\n", parameter, parameter);
    }
    fmt::print(
        "struct {} {{\n{}}};\nnamespace detail {{\ntemplate <typename Add>\nvoid "
        "add_arguments([[maybe_unused]] const {} &from, [[maybe_unused]] Add add) {{\n{}}}\n"
        "constexpr const char *function_of(const {} &) {{ return \"{}\"; }}\n}} // namespace "
        "detail\n\n",
        row.shown, fields, row.shown, adds, row.shown, row.shown);
  }
}

constexpr std::string_view kHead =
    R"--(// Made by frontend/library/write_options.cpp from request.def and the table of initialisers.
#ifndef LSTMC_OPTIONS_HPP
#define LSTMC_OPTIONS_HPP

#include <lstmc/lstmc.hpp>
#include <lstmc/number_text.hpp>
#include <lstmc/optimizers.hpp>

namespace lstmc {
inline namespace LSTMC_ABI {

//===---- initial values ----------------------------------------------------------------------===//

)--";

constexpr std::string_view kOptions =
    R"--(/// How parameters get their first values; empty: as the network says.
class Initializer {
public:
  Initializer() = default;
  template <typename From>
    requires requires(const From &from) { detail::function_of(from); }
  Initializer(const From &from) : text_(std::string(detail::function_of(from)) + "(") {
    detail::add_arguments(from, [this](const char *key, const auto &value) { this->add(key, value); });
    text_ += ")";
  }
  /// As the language writes it: "Xavier(magnitude=3.0)".
  const std::string &text() const noexcept { return text_; }

private:
  void add(const char *name, double value) { add_text(name, detail::number_text(value)); }
  void add(const char *name, const std::optional<double> &value) {
    if (value)
      add(name, *value);
  }
  void add(const char *name, const std::string &value) {
    if (!value.empty())
      add_text(name, "\"" + value + "\"");
  }
  void add_text(const char *name, const std::string &value) {
    text_.append(text_.ends_with('(') ? "" : ", ").append(name).append("=").append(value);
  }
  std::string text_;
};

/// What a compilation may be asked for: the flags of `lstmc compile`, with its defaults.
struct CompileOptions {
  /// Values of dims and of other integer settings of a source: {{"batch", 8}, {"seq", 100}}.
  std::vector<std::pair<std::string, std::int64_t>> dims{};
  /// Shapes of its inputs, which give named dims their values.
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> shapes{};
  /// forward, evaluate, step; empty: all that the network allows.
  std::vector<std::string> entries{};
  /// cpu, 4xcpu, "gpu:0,gpu:1"; "": cpu.
  std::string devices{};
  /// "GROUP=DEVICE,...", or auto.
  std::string place{};
  /// local, device, nccl, auto.
  std::string kvstore{};
  /// Bytes that each device may use: a training that needs more computes layers again.
  std::optional<std::uint64_t> memory{};
  Optimizer optimizer{};
  Initializer initializer{};
  /// Bound on the norm of all gradients together; 0: none.
  double clip_gradient_norm = 0;
  /// Patterns of the states that are kept from one run to the next: {"lstm*"}.
  std::vector<std::string> carry{};
  /// F32 or F64: what the whole network is computed in.
  std::optional<DType> dtype{};
  /// Any key of fit(..) of the language.
  std::vector<std::pair<std::string, std::string>> fit{};
)--";

constexpr std::string_view kPuts =
    R"--(  /// Gets what is no error: warnings, as the command draws them.
  Log log{};
};

namespace detail {

inline std::string joined(const std::vector<std::string> &words) {
  std::string text;
  for (const std::string &word : words)
    text.append(text.empty() ? "" : ",").append(word);
  return text;
}
inline std::string joined(const std::vector<std::int64_t> &numbers, const char *sign) {
  std::string text;
  for (const std::int64_t number : numbers)
    text.append(text.empty() ? "" : sign).append(std::to_string(number));
  return text;
}

inline std::string key_text(bool value) { return value ? "True" : "False"; }
inline std::string key_text(double value) { return value == no_bound ? "None" : number_text(value); }

/// The name, and the keys that are not the defaults.
template <typename Put> void list_optimizer(const Optimizer &from, Put put) {
  std::visit(
      [&put]<typename Chosen>(const Chosen &chosen) {
        if constexpr (!std::is_same_v<Chosen, std::monostate>) {
          put("optimizer", std::string(Chosen::name));
          std::vector<std::string> defaults;
          Chosen{}.each([&](const char *, auto value) { defaults.push_back(key_text(value)); });
          std::size_t index = 0;
          chosen.each([&](const char *key, auto value) {
            if (const std::string text = key_text(value); text != defaults[index++])
              put("fit", std::string(key) + "=" + text);
          });
        }
      },
      from);
}

/// Gives `put` every option that is set: its name and its text.
template <typename Put> void list_options(const CompileOptions &from, Put put) {
  for (const auto &[name, value] : from.dims)
    put("dims", name + "=" + std::to_string(value));
  for (const auto &[name, extents] : from.shapes)
    put("shapes", name + ":" + joined(extents, "x"));
  if (!from.entries.empty())
    put("entries", joined(from.entries));
  if (!from.devices.empty())
    put("devices", from.devices);
  if (!from.place.empty())
    put("place", from.place);
  if (!from.kvstore.empty())
    put("kvstore", from.kvstore);
  if (from.memory)
    put("memory", std::to_string(*from.memory));
  list_optimizer(from.optimizer, put);
  if (!from.initializer.text().empty())
    put("initializer", from.initializer.text());
  if (from.clip_gradient_norm != 0)
    put("fit", "clip_gradient_norm=" + number_text(from.clip_gradient_norm));
  if (!from.carry.empty())
    put("fit", "carry=" + joined(from.carry));
  if (from.dtype)
    put("dtype", std::string(name(*from.dtype)));
  for (const auto &[key, value] : from.fit)
    put("fit", key + "=" + value);
)--";

/// How a field of that type is put.
std::string putText(const Record &record) {
  const std::string field = fieldName(record.flag);
  const std::string_view type = typeOf(record.type);
  if (type == "bool")
    return fmt::format("  if (from.{0})\n    put(\"{0}\", std::string());\n", field);
  if (type.starts_with("std::optional"))
    return fmt::format("  if (from.{0})\n    put(\"{0}\", std::to_string(*from.{0}));\n", field);
  if (type == "std::string")
    return fmt::format("  if (!from.{0}.empty())\n    put(\"{0}\", from.{0});\n", field);
  if (type == "std::vector<std::int64_t>")
    return fmt::format("  if (!from.{0}.empty())\n    put(\"{0}\", joined(from.{0}, \",\"));\n",
                       field);
  if (type != "std::vector<std::string>")
    return fmt::format("  for (const auto &[name, value] : from.{0})\n"
                       "    put(\"{0}\", name + \"=\" + std::to_string(value));\n",
                       field);
  return record.type.starts_with("Many<")
             ? fmt::format(
                   "  for (const std::string &value : from.{0})\n    put(\"{0}\", value);\n", field)
             : fmt::format("  if (!from.{0}.empty())\n    put(\"{0}\", joined(from.{0}));\n",
                           field);
}

} // namespace

int main() {
  fmt::print("{}", kHead);
  writeInitialisers();
  fmt::print("{}", kOptions);
  std::string puts;
  for (const Record &record : kRecords) {
    if (hasOwnForm(record.flag))
      continue;
    fmt::print("{}  {} {}{{}};\n",
               comment(record.fallback.empty()
                           ? std::string(record.help)
                           : fmt::format("{} (default {})", record.help, record.fallback)),
               typeOf(record.type), fieldName(record.flag));
    puts += putText(record);
  }
  fmt::print("{}{}}}\n\n}} // namespace detail\n\n}} // namespace LSTMC_ABI\n}} // namespace "
             "lstmc\n\n#endif\n",
             kPuts, puts);
}
