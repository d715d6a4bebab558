// The devices of this process as a rank of a job, and those of the other ranks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/registry/Devices.h"
#include "frontend/driver/Request.h"
#include "passes/Compile.h"

namespace lstmc {
class Peers;
class Session;
} // namespace lstmc

namespace lstmc::driver {

/// -d of one rank, by name; `gpu:local` is gpu:0 here, whichever GPU it will be. E0001.
Result<std::vector<DeviceName>> devicesOfRank(const LayoutOptions &options);

/// Those of one rank for all of them: `cpu:0,2` of two ranks are cpu:0, cpu:2, cpu:3 and cpu:5.
/// E0001 where that is too many. Ranks of dist_async have a package each.
Result<std::vector<DeviceName>> devicesOfJob(const std::vector<DeviceName> &ofRank);

/// E0501 where this process cannot have its devices; which GPU `gpu:local` is, ranks see together.
Status checkDevicesHere(const std::vector<DeviceName> &ofJob, const LayoutOptions &options);

/// The devices of this process, with mirrors of those of other ranks if `sharers` of the package
/// are given. Numbers of GPUs are those of the rank's host where -d has said them, else those of
/// the package. E0501 where there are fewer than ranks, where a host has too few GPUs for
/// `gpu:local`, and where two ranks of the job have one GPU. A server of dist_async has devices of
/// the CPU in place of GPUs.
Result<std::vector<std::unique_ptr<Device>>> makeDevicesOfRank(const std::vector<DeviceName> &names,
                                                               const LayoutOptions &options,
                                                               DeviceOptions deviceOptions,
                                                               Peers *job, const Peers *sharers);

/// Version of the NCCL that these devices would use; empty where some are no GPUs. E0503 says where
/// it was looked for.
Result<std::string> ncclOf(const std::vector<std::string> &devices);

/// A line on how values go between ranks whose devices are GPUs; empty where some are not.
std::string ncclText(const Session &session);

/// The first device of this process.
const Device &deviceHere(const Session &session);

/// "2 on cpu:0,cpu:1 | cpu:2,cpu:3, rows 4 | 4 of 8": who has which devices, and how much of the
/// batch; of `shares` by device, which may be none.
std::string ranksText(const Session &session, const std::vector<passes::BatchShare> &shares);

} // namespace lstmc::driver
