// A channel between two GPUs, over NCCL.
#pragma once

#include <memory>
#include <string>

#include "backends/cuda/runtime/Nccl.h"
#include "executor/device/Channel.h"

namespace lstmc::cuda {

Result<ChannelId> newNcclChannel(const Nccl &nccl);

/// One end, as a communicator of two ranks and a stream of its own in this context. NCCL's own sums
/// are never used: their order is none of docs/numerics.md. Communicators never block, and are
/// aborted at their end, because leaving one in good order waits for the other process. `name`: of
/// the device, for messages.
Result<std::unique_ptr<Channel>> openNcclChannel(std::string name, const Driver &driver,
                                                 const Nccl &nccl, DriverContext context,
                                                 const ChannelId &id, bool sends);

} // namespace lstmc::cuda
