// The network of a package, reconstructed from the source locations of its launches.
#pragma once

#include "executor/package/PackageData.h"
#include "viz/Network.h"

namespace lstmc::viz {

/// Draws the first of `forward`, `evaluate`, `step` and other entries that the package has. A box
/// stands for all launches of one source op, on all devices; edges lead from each op to the readers
/// of its results; copies and transfers are part of an edge. Uses these fields of `options`: shapes
/// (those of a launch; with several devices, of a part of the batch), memory, devices (if not
/// empty), and the machine, for planned launch times.
Diagram packageDiagram(const package::PackageData &package, const NetworkOptions &options);

} // namespace lstmc::viz
