// A network, its schedule, its memory and the losses of a run as one HTML page that needs nothing
// else.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "viz/Diagram.h"
#include "viz/Losses.h"
#include "viz/Schedule.h"

namespace lstmc::viz {

/// Pointing at a box of the network shows its launches, its bytes and the figures of both, and
/// pointing at a launch shows its box. `timelines` are of scheduledEntry(), and empty where there
/// is none. The page loads nothing, and names in it are text. E0501 without Graphviz.
Result<std::string> page(const Diagram &diagram, const package::PackageData &package,
                         const target::Machines &machines, std::span<const Timeline> timelines,
                         const Losses &losses);

} // namespace lstmc::viz
