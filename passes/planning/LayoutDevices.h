// A layout as options, and its devices as forecasts see them.
#pragma once

#include "backends/target/Target.h"
#include "passes/Compile.h"

namespace lstmc::planning {

/// The machines of all devices of a layout at work together; or one for all.
target::Machines layoutMachines(const passes::CompileOptions &options);

/// A device of a layout.
struct Worker {
  const target::Target *target;
  target::Machine machine;
};
using Workers = std::vector<Worker>;

/// Those of a layout, at work together.
Workers workersOf(const passes::CompileOptions &options);

/// Of a message from one of a layout's devices to another: over both interfaces where they are on
/// different hosts, with the copies that ranks make.
target::MessageCost messageCost(const Workers &workers, size_t sender, size_t receiver,
                                double bytes);

/// The options for some of the devices, in that order.
passes::CompileOptions on(const passes::CompileOptions &options,
                          const std::vector<size_t> &devices);

int64_t replicasOf(const passes::CompileOptions &options);

/// The entry that layouts are compared by: `step`, else `forward`, else `evaluate`; null: none.
const package::Entry *weighedEntry(const package::PackageData &data);

} // namespace lstmc::planning
