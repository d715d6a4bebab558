// The hosts of a cluster in words: what each does in an update, and what binds it.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "passes/planning/HostForecast.h"

namespace lstmc::cli {

/// A row per host, or for several that follow one another and do the same. `names`: by
/// Machine::host. "" for no hosts.
std::string hostsTable(const std::vector<planning::HostForecast> &hosts,
                       const std::vector<std::string> &names);

nlohmann::ordered_json hostsJson(const std::vector<planning::HostForecast> &hosts,
                                 const std::vector<std::string> &names);

} // namespace lstmc::cli
