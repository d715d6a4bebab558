#include "frontend/library/GraphSettings.h"

#include <algorithm>

#include <fmt/format.h>

#include "executor/base/LowerCase.h"
#include "executor/training/FitSettings.h"
#include "frontend/driver/SettingText.h"
#include "frontend/lnet/Load.h"
#include "frontend/names/Suggestion.h"
#include "frontend/symbol/Initialisers.h"

namespace lstmc {

static Diagnostic wrong(const symbol::Setting &setting, std::string message) {
  Diagnostic diagnostic;
  diagnostic.code = ErrorCode::E0214;
  diagnostic.place = setting.origin;
  diagnostic.message = std::move(message);
  return diagnostic;
}

static Diagnostics checkKeys(std::string_view function, const std::vector<symbol::Setting> &given,
                             const std::vector<std::string_view> &known) {
  Diagnostics errors;
  for (const symbol::Setting &setting : given)
    if (std::ranges::find(known, setting.key) == known.end())
      errors.push_back(
          wrong(setting, fmt::format("{} has no key \"{}\"; {}", function, setting.key,
                                     suggestionOrList(NameKind::Key, setting.key, known))));
  return errors;
}

/// Initialisers of a graph have names of symbol::kInitialisers, or contain other initialisers.
static std::string unknownInitialiser(const symbol::Initialiser &init) {
  std::vector<std::string_view> known = {"mixed", "values"};
  for (const symbol::InitialiserRow &row : symbol::kInitialisers)
    known.push_back(row.name);
  if (std::ranges::find(known, init.name) == known.end())
    return fmt::format("there is no initialiser \"{}\"; {}", init.name,
                       suggestionOrList(NameKind::Function, init.name, known));
  for (const symbol::Initialiser &inner : init.initialisers)
    if (std::string message = unknownInitialiser(inner); !message.empty())
      return message;
  return {};
}

Diagnostics checkSettings(const symbol::Graph &graph) {
  Diagnostics errors = checkKeys("fit", graph.fit(), lnet::fitKeys());
  for (const Diagnostic &error : checkKeys("data", graph.data(), lnet::dataKeys()))
    errors.push_back(error);
  if (!errors.empty())
    return errors;
  training::FitSettings checked;
  for (const symbol::Setting &setting : graph.fit()) {
    if (setting.key == "initializer") {
      if (!setting.initialiser)
        errors.push_back(wrong(setting, "the value of initializer is the name of one, or a "
                                        "symbol::Initialiser"));
      else if (std::string message = unknownInitialiser(*setting.initialiser); !message.empty())
        errors.push_back(wrong(setting, std::move(message)));
      continue;
    }
    if (setting.initialiser)
      errors.push_back(wrong(setting, fmt::format("{} takes no initialiser", setting.key)));
    package::Setting text = driver::settingTexts({setting}).front();
    if (setting.key == "optimizer") // MXNet takes its names in any case
      text.value = lowerCase(text.value);
    if (Result<bool> taken = checked.set(setting.key, text.value); !taken.ok())
      errors.push_back(wrong(setting, taken.error().message));
  }
  return errors;
}

} // namespace lstmc
