#include "frontend/library/Options.h"

#include <algorithm>

#include <fmt/format.h>

#include "frontend/library/OptionNames.h"
#include "frontend/lnet/Load.h"
#include "frontend/names/Suggestion.h"

namespace lstmc::library {

static Diagnostics unknownOption(std::string_view name) {
  std::vector<std::string> fields = {"initializer"};
#define LSTMC_FIELD(FIELD, NAME, ...) fields.push_back(fieldName(NAME));
#include "frontend/library/compile_fields.def"
  return failureOf(
      Status(fail(ErrorCode::E0001, "there is no option \"{}\"; {}", name,
                  suggestionOrList(NameKind::Flag, name, {fields.begin(), fields.end()}))));
}

/// Puts a value into the field of that name; false where there is none.
static Result<bool> take(driver::CompileRequest &request, std::string_view name,
                         std::string_view value, Kind kind) {
  using namespace driver;
#define LSTMC_FIELD(FIELD, NAME, LETTER, TYPE, ...)                                                \
  if (name == fieldName(NAME)) {                                                                   \
    LSTMC_TRY(TYPE::take(request.FIELD, NAME, value));                                             \
    return true;                                                                                   \
  }
#define LSTMC_INPUT(FIELD, NAME, LETTER, TYPE, ...)                                                \
  if (name == fieldName(NAME)) {                                                                   \
    if (kind == Kind::Built)                                                                       \
      return fail(ErrorCode::E0001,                                                                \
                  ".{} is for sources: a network of the program has the shapes and values that "   \
                  "it was built with",                                                             \
                  name);                                                                           \
    LSTMC_TRY(TYPE::take(request.FIELD, NAME, value));                                             \
    return true;                                                                                   \
  }
#include "frontend/library/compile_fields.def"
  return false;
}

Checked<Options> optionsOf(const lstmc_option *options, size_t count, Kind kind,
                           const lstmc_place *place) {
  Options taken;
  for (size_t i = 0; i < count; ++i) {
    const std::string_view name = options[i].name ? options[i].name : "",
                           value = options[i].value ? options[i].value : "";
    if (name == "initializer") {
      LSTMC_CHECKED_ASSIGN(taken.initializer, initializerOf(value, placeOf(place)));
      continue;
    }
    LSTMC_CHECKED_ASSIGN(const bool known, take(taken.request, name, value, kind));
    if (!known)
      return unknownOption(name);
  }
  return taken;
}

Checked<symbol::Setting> initializerOf(std::string_view text, const symbol::Origin &origin) {
  auto wrong = [&](std::string message) {
    Diagnostic diagnostic;
    diagnostic.code = ErrorCode::E0214;
    diagnostic.place = origin;
    diagnostic.message = fmt::format("initializer {}: {}", text, message);
    return diagnostic;
  };
  // The language has the functions and their arguments; a name alone is that one without any.
  const bool oneCall = text.find_first_of("\n#") == std::string_view::npos;
  if (!oneCall)
    return wrong("want a call such as Uniform(0.08)");
  Checked<symbol::Network> net =
      lnet::loadText("initializer", fmt::format("def net(x: float32[1]):\n    return x * 1.0\n\n"
                                                "fit(net, initializer={})\n",
                                                text));
  if (!net.ok())
    return wrong(net.diagnostics().front().message);
  const auto setting = std::ranges::find(net->fit, "initializer", &symbol::Setting::key);
  if (setting == net->fit.end() || !setting->initialiser)
    return wrong("want a call such as Uniform(0.08)");
  setting->origin = origin;
  return *setting;
}

} // namespace lstmc::library
