// A self-contained HTML page with a network, its schedule, its memory and the losses of a run.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "viz/Diagram.h"
#include "viz/Losses.h"
#include "viz/Schedule.h"

namespace lstmc::viz {

/// Pointing at a box of the network highlights its launches and bytes and shows their numbers;
/// pointing at a launch highlights its box. `timelines` are those of scheduledEntry(), empty if
/// there is none. The page loads no external resource, and names in it are escaped. E0501 without
/// Graphviz.
Result<std::string> page(const Diagram &diagram, const package::PackageData &package,
                         const target::Machines &machines, std::span<const Timeline> timelines,
                         const Losses &losses);

} // namespace lstmc::viz
