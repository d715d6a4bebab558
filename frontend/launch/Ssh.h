// Which hosts answer.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace lstmc::launch {

/// For each host, why ssh does not reach it; nothing where it does. All are tried at once, within
/// about 10 s. This machine is not asked.
std::vector<std::optional<std::string>> tryHosts(const std::vector<std::string> &hosts, int port);

} // namespace lstmc::launch
