// LayoutOptions as the compiler takes them: how a net is shared out to devices.
#pragma once

#include <vector>

#include "executor/device/DeviceNames.h"
#include "frontend/driver/Request.h"
#include "frontend/symbol/Network.h"
#include "passes/Compile.h"

namespace lstmc::driver {

/// --devices, of all ranks, whether they are here or not: the registry knows, and refuses.
Result<std::vector<DeviceName>> devicesAsked(const LayoutOptions &options);
/// As above; without the flag, those that the file's place(..) names.
Result<std::vector<DeviceName>> devicesAsked(const LayoutOptions &options,
                                             const symbol::Network &net);

/// The threshold of --gradient-compression: `none` (0), `2bit` (0.5), `2bit:T`. E0001.
Result<double> compressionAsked(const LayoutOptions &options);

/// Fills in what they decide of a compilation; place(..) of the file stands where --place does not,
/// as long as its devices are in use. E0001 for a device that is not among -d, a group that the net
/// does not have, a number out of range, a store that there is not.
Status readLayout(const LayoutOptions &options, const symbol::Network &net,
                  const std::vector<DeviceName> &devices, bool ofOneWorker,
                  passes::CompileOptions &compile);

} // namespace lstmc::driver
