// The flags that share a net out to devices: -d, --work-load-list, --kv-store, --update-on-kvstore,
// --bigarray-bound, --bucket-bytes, --accumulate, --chunks, --streams, --place.
#pragma once

#include <vector>

#include "executor/device/DeviceNames.h"
#include "frontend/cli/Options.h"
#include "frontend/symbol/Network.h"
#include "passes/Compile.h"

namespace lstmc::cli {

/// --devices, of all ranks, whether they are here or not: the registry knows, and refuses.
Result<std::vector<DeviceName>> devicesAsked(const Options &options);
/// As above; without the flag, those that the file's place(..) names.
Result<std::vector<DeviceName>> devicesAsked(const Options &options, const symbol::Network &net);

/// The threshold of --gradient-compression: `none` (0), `2bit` (0.5), `2bit:T`. E0001.
Result<double> compressionAsked(const Options &options);

/// Fills in what they decide of a compilation; place(..) of the file stands where --place does not,
/// as long as its devices are in use. E0001 for a device that is not among -d, a group that the net
/// does not have, a number out of range, a store that there is not.
Status readDeviceFlags(const Options &options, const symbol::Network &net,
                       const std::vector<DeviceName> &devices, passes::CompileOptions &compile);

} // namespace lstmc::cli
