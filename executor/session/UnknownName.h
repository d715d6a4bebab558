// The refusal of a name that a package does not have.
#pragma once

#include <string_view>
#include <vector>

#include "executor/base/Status.h"
#include "executor/session/UpdateScalars.h"

namespace lstmc::session {

/// E0001 with the nearest name and the names that there are, the nearest first, at most twelve.
/// `what`: "input"; `where`: "the package", or an entry.
Error unknownName(std::string_view what, std::string_view name, std::string_view where,
                  std::vector<std::string_view> names);

/// The same for a list of what has a `name`, without what a session computes itself.
template <typename List>
Error unknownIn(std::string_view what, std::string_view name, std::string_view where,
                const List &list) {
  std::vector<std::string_view> names;
  for (const auto &each : list)
    if (!std::string_view(each.name).starts_with(kOptimizerPrefix))
      names.push_back(each.name);
  return unknownName(what, name, where, std::move(names));
}

} // namespace lstmc::session
