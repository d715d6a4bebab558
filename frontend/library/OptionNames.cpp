#include "frontend/library/OptionNames.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace lstmc::library {

namespace {

/// Fields whose name is another one than their flag's.
constexpr std::pair<std::string_view, std::string_view> kOtherNames[] = {
    {"set", "dims"},      {"shape", "shapes"}, {"layout", "layouts"},
    {"entry", "entries"}, {"mem", "memory"},   {"kv-store", "kvstore"}};

constexpr std::string_view kFlags[] = {
#define LSTMC_FIELD(FIELD, NAME, ...) NAME,
#include "frontend/library/compile_fields.def"
};

bool isOfName(char c) { return std::islower(static_cast<unsigned char>(c)) || c == '-'; }

} // namespace

std::string fieldName(std::string_view flag) {
  for (const auto &[name, field] : kOtherNames)
    if (name == flag)
      return std::string(field);
  std::string field(flag);
  std::ranges::replace(field, '-', '_');
  return field;
}

std::string withFieldNames(std::string_view text) {
  std::string changed;
  while (!text.empty()) {
    const size_t at = std::min(text.find("--"), text.size());
    changed += text.substr(0, at);
    text.remove_prefix(at);
    if (text.empty())
      break;
    const auto end = std::find_if_not(text.begin() + 2, text.end(), isOfName);
    const std::string_view flag(text.begin() + 2, end);
    const bool isField = std::ranges::find(kFlags, flag) != std::end(kFlags);
    changed += isField ? "." + fieldName(flag) : "--" + std::string(flag);
    text.remove_prefix(2 + flag.size());
  }
  return changed;
}

} // namespace lstmc::library
