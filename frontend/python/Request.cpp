#include "frontend/python/Request.h"

#include <algorithm>
#include <cstdlib>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "frontend/names/Suggestion.h"
#include "frontend/python/Failure.h"

namespace nb = nanobind;

namespace lstmc::python {

namespace {

std::string asKeyword(std::string_view flag) {
  std::string keyword(flag);
  std::ranges::replace(keyword, '-', '_');
  return keyword;
}

/// The record of a field of request.def that serves the command; null where there is none.
const cli::FlagRecord *findField(std::string_view name, cli::CommandId command) {
#define LSTMC_REQUEST(FIELD, NAME, ...)                                                            \
  if (const cli::FlagRecord &record = cli::recordOf(cli::Flag::FIELD);                             \
      name == NAME && record.servedBy(command))                                                    \
    return &record;
#include "frontend/driver/request.def"
  return nullptr;
}

Status take(cli::Options &options, std::string_view name, std::string_view value) {
  using namespace driver;
#define LSTMC_REQUEST(FIELD, NAME, LETTER, TYPE, ...)                                              \
  if (name == NAME)                                                                                \
    return TYPE::take(options.FIELD, NAME, value);
#include "frontend/driver/request.def"
  return {};
}

/// What a keyword that is none of `known` may be meant for.
std::string meant(const std::string &name, const std::vector<std::string> &known) {
  std::string flag(name);
  std::ranges::replace(flag, '_', '-');
  const std::string help = suggestion(NameKind::Flag, flag, {});
  return help.empty() ? suggestionOrList(NameKind::Flag, name, {known.begin(), known.end()}) : help;
}

/// [(struct, field, keyword, type, argument, default, help, commands)] of the records.
nb::list fields() {
  nb::list rows;
#define LSTMC_ROW(STRUCT, FIELD, NAME, LETTER, TYPE, ARGUMENT, DEFAULT, GROUP, HELP, COMMANDS)     \
  rows.append(nb::make_tuple(STRUCT, #FIELD, asKeyword(NAME), #TYPE, ARGUMENT, DEFAULT,            \
                             std::string(cli::recordOf(cli::Flag::FIELD).help), COMMANDS));
#define LSTMC_INPUT(...) LSTMC_ROW("input", __VA_ARGS__)
#define LSTMC_DATA(...) LSTMC_ROW("data", __VA_ARGS__)
#define LSTMC_LAYOUT(...) LSTMC_ROW("layout", __VA_ARGS__)
#define LSTMC_MACHINE(...) LSTMC_ROW("machine", __VA_ARGS__)
#define LSTMC_MEMORY(...) LSTMC_ROW("memory", __VA_ARGS__)
#define LSTMC_NUMERICS(...) LSTMC_ROW("numerics", __VA_ARGS__)
#define LSTMC_OPTIMIZER(...) LSTMC_ROW("optimizer", __VA_ARGS__)
#define LSTMC_PROGRAM(...) LSTMC_ROW("program", __VA_ARGS__)
#define LSTMC_RUN(...) LSTMC_ROW("run", __VA_ARGS__)
#define LSTMC_LOOP(...) LSTMC_ROW("loop", __VA_ARGS__)
#define LSTMC_OUTPUT(...) LSTMC_ROW("output", __VA_ARGS__)
#define LSTMC_REPORT(...) LSTMC_ROW("report", __VA_ARGS__)
#include "frontend/driver/request.def"
#undef LSTMC_ROW
  return rows;
}

/// [(keyword, field, text before and after its value, argument, help, commands)] of MXNet's names.
nb::list spellings() {
  nb::list rows;
#define LSTMC_REQUEST_SPELLING(NAME, FIELD, BEFORE, AFTER, ARGUMENT, HELP, COMMANDS)               \
  rows.append(nb::make_tuple(asKeyword(NAME), #FIELD, BEFORE, AFTER, ARGUMENT, HELP, COMMANDS));
#include "frontend/driver/request.def"
  return rows;
}

/// All flags of a command as keywords, those too that no request has.
std::vector<std::string> flagsOf(const std::string &command) {
  std::vector<std::string> names;
  const std::optional<cli::CommandId> id = cli::findCommand(command);
  for (const cli::FlagRecord &flag : cli::flags())
    if (id && flag.servedBy(*id))
      names.push_back(asKeyword(flag.name));
  return names;
}

} // namespace

Result<cli::Options> optionsOf(const std::string &command, const GivenFields &given) {
  cli::Options options;
  options.command = cli::findCommand(command);
  for (const auto &[name, value] : given) {
    const cli::FlagRecord *record = findField(name, *options.command);
    if (!record)
      return fail(ErrorCode::E0001, "{} has no keyword {}=", command, asKeyword(name));
    LSTMC_TRY(take(options, name, value));
    options.given.push_back({record, value, cli::ValueOrigin::Flag, ""});
  }
  const char *threads = std::getenv("LSTMC_THREADS");
  if (threads && !options.threads.given() && findField("threads", *options.command))
    LSTMC_TRY(take(options, "threads", threads));
  return options;
}

void addRequests(nb::module_ &module) {
  module.def("request_fields", &fields);
  module.def("request_spellings", &spellings);
  module.def("flags", &flagsOf, nb::arg("command"));
  module.def("meant_keyword", &meant, nb::arg("name"), nb::arg("known"));
}

} // namespace lstmc::python
