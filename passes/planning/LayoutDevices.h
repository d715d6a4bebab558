// Conversion between a layout's options and the devices of a forecast.
#pragma once

#include "backends/target/Target.h"
#include "passes/Compile.h"

namespace lstmc::planning {

/// The machines of a layout's devices while all of them are busy; or one for all.
target::Machines layoutMachines(const passes::CompileOptions &options);

/// A device of a layout, for forecasts.
struct Worker {
  const target::Target *target;
  target::Machine machine;
};
using Workers = std::vector<Worker>;

/// The devices of a layout, while all of them are busy.
Workers workersOf(const passes::CompileOptions &options);

/// Cost of a message between two devices of a layout: includes both network interfaces if they are
/// on different hosts, and the copies that ranks make.
target::MessageCost messageCost(const Workers &workers, size_t sender, size_t receiver,
                                double bytes);

/// Options restricted to some of the devices, in that order.
passes::CompileOptions on(const passes::CompileOptions &options,
                          const std::vector<size_t> &devices);

int64_t replicasOf(const passes::CompileOptions &options);

/// The entry that layouts are compared by: `step`, else `forward`, else `evaluate`; null if there
/// is none.
const package::Entry *weighedEntry(const package::PackageData &data);

} // namespace lstmc::planning
