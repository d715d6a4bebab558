#include "executor/session/UserOps.h"

#include <map>
#include <string>
#include <tuple>

namespace lstmc::session {

namespace {

using Place = std::tuple<std::string, uint32_t, uint32_t, uint32_t, std::vector<std::string>>;

Place placeOf(const package::Location &at) {
  return {at.file, at.line, at.column, at.length, at.notes};
}

} // namespace

UserOps::UserOps(const package::PackageData &data) {
  std::map<Place, uint32_t> named;
  for (uint32_t i = 0; i < data.locations.size(); ++i)
    if (!data.locations[i].name.empty())
      named.emplace(placeOf(data.locations[i]), i);
  for (uint32_t i = 0; i < data.locations.size(); ++i) {
    auto found =
        data.locations[i].name.empty() ? named.find(placeOf(data.locations[i])) : named.end();
    ops_.push_back(found == named.end() || data.locations[i].line == 0 ? i : found->second);
  }
}

} // namespace lstmc::session
