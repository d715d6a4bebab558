// Messages by way of buffers of the host.
#pragma once

#include <functional>

#include "executor/device/HostPinner.h"
#include "executor/ranks/Messages.h"
#include "executor/session/Transport.h"

namespace lstmc::ranks {

/// Packed into a buffer with its header when it is posted, so that the value may be written over at
/// once. `wake` outlives it. `pinner`: the device of this process, if it is one.
std::unique_ptr<Outgoing> stagedOutgoing(const session::Message &message, const Header &header,
                                         Link &link, HostPinner *pinner, int rank,
                                         const std::function<void(size_t)> &wake, int tag);

/// Received into a buffer ahead of time, checked field by field, and unpacked when it is taken.
std::unique_ptr<Incoming> stagedIncoming(const session::Message &message, const Header &header,
                                         Link &link, HostPinner *pinner, int rank,
                                         const std::function<void(size_t)> &wake, int tag);

} // namespace lstmc::ranks
