#include "frontend/names/Suggestion.h"

#include <algorithm>
#include <cctype>
#include <unordered_set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "executor/base/Suggest.h"

namespace lstmc {

namespace {

struct Synonym {
  NameKind kind;
  std::string_view written;
  std::string_view here; ///< has to be known for the row to hold; "" holds always
  std::string_view help; ///< "" for: here it is called `here`
};
constexpr Synonym kSynonyms[] = {
#define SYNONYM(KIND, WRITTEN, HERE, HELP) {NameKind::KIND, WRITTEN, HERE, HELP},
#define MODULE(NAME, SHORT, HELP)
#include "frontend/names/Synonyms.def"
};

struct PythonModule {
  std::string_view name, shortName, help;
};
constexpr PythonModule kModules[] = {
#define SYNONYM(KIND, WRITTEN, HERE, HELP)
#define MODULE(NAME, SHORT, HELP) {NAME, SHORT, HELP},
#include "frontend/names/Synonyms.def"
};

/// Whether two names are equal except for case and underscores: `Leaky_ReLU` and `LeakyReLU`.
bool alike(std::string_view a, std::string_view b) {
  size_t i = 0, j = 0;
  while (true) {
    while (i < a.size() && a[i] == '_')
      ++i;
    while (j < b.size() && b[j] == '_')
      ++j;
    if (i == a.size() || j == b.size())
      return i == a.size() && j == b.size();
    if (std::tolower(static_cast<unsigned char>(a[i++])) !=
        std::tolower(static_cast<unsigned char>(b[j++])))
      return false;
  }
}

} // namespace

std::string suggestion(NameKind kind, std::string_view written,
                       const std::vector<std::string_view> &known) {
  for (bool exactly : {true, false})
    for (const Synonym &row : kSynonyms) {
      if (row.kind != kind || !(exactly ? row.written == written : alike(row.written, written)))
        continue;
      if (!row.here.empty() && std::ranges::find(known, row.here) == known.end())
        continue;
      return row.help.empty() ? fmt::format("here it is called \"{}\"", row.here)
                              : std::string(row.help);
    }
  for (std::string_view name : known)
    if (written.size() > 1 && alike(name, written))
      return fmt::format("did you mean \"{}\"?", name);
  return didYouMean(written, known);
}

std::string suggestionOrList(NameKind kind, std::string_view written,
                             const std::vector<std::string_view> &known) {
  constexpr size_t kFew = 5, kMany = 60;
  std::string help = suggestion(kind, written, known);
  if (!help.empty() || known.empty())
    return help;
  return known.size() > kMany ? "the nearest names are " + listed(written, known, kFew)
                              : "the names here are " + listed(written, known);
}

std::string listed(std::string_view written, const std::vector<std::string_view> &known,
                   size_t most) {
  std::vector<std::string_view> different;
  std::unordered_set<std::string_view> seen;
  std::ranges::copy_if(known, std::back_inserter(different),
                       [&](std::string_view name) { return seen.insert(name).second; });
  std::vector<std::string_view> names = nearestFirst(written, std::move(different));
  bool cut = names.size() > most;
  names.resize(std::min(names.size(), most));
  return fmt::format("{}{}", fmt::join(names, ", "), cut ? ", …" : "");
}

std::string_view moduleHelp(std::string_view module) {
  std::string_view top = module.substr(0, module.find('.'));
  for (const PythonModule &row : kModules)
    if (row.name == top || row.shortName == top)
      return row.help;
  return {};
}

bool isModuleName(std::string_view name) { return !moduleHelp(name).empty(); }

} // namespace lstmc
