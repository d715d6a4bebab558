// The network of a package: its ops, by the places in the source that its launches come from.
#pragma once

#include "executor/package/PackageData.h"
#include "viz/Network.h"

namespace lstmc::viz {

/// The first of `forward`, `evaluate`, `step` and the others that the package has. A box per
/// op of the source, for all launches that come from it on any device, and an edge from each op to
/// those that read what it wrote; copies and transfers are drawn into their edge. Of `options` it
/// takes shapes (an edge has those of a launch: with several devices, of a part of the batch),
/// memory, devices (any: in boxes, as where there are several), and the machine, for the planned
/// time of the launches.
Diagram packageDiagram(const package::PackageData &package, const NetworkOptions &options);

} // namespace lstmc::viz
