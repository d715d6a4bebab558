#include "frontend/cli/RolledText.h"

#include <fmt/format.h>

namespace lstmc::cli {

std::string rolledLine(const passes::RolledLayer &layer) {
  const std::string steps = fmt::format("{}: {} steps of {}", layer.name, layer.cells, layer.mode);
  if (!layer.reason.empty())
    return fmt::format("not rolled {}: {}", steps, layer.reason);
  return fmt::format("rolled {}{}{}", steps, layer.rounding.empty() ? "" : "; ", layer.rounding);
}

} // namespace lstmc::cli
