// The flags that share a net out to devices: -d, --work-load-list, --kv-store, --update-on-kvstore, --accumulate, --chunks, --place.
#pragma once

#include <vector>

#include "executor/device/DeviceNames.h"
#include "frontend/cli/Options.h"
#include "frontend/symbol/Symbol.h"
#include "passes/Compile.h"

namespace lstmc::cli {

/// --devices, whether they are here or not: the registry knows, and refuses.
Result<std::vector<DeviceName>> devicesAsked(const Options &options);

/// Fills in what they decide of a compilation. E0001 for a device that is not among -d, a group that `graph` does not have, a number
/// out of range, a store that there is not.
Status readDeviceFlags(const Options &options, const symbol::Graph &graph, const std::vector<DeviceName> &devices,
                       passes::CompileOptions &compile);

} // namespace lstmc::cli
