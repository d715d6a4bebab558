// Messages that the receiver reads from the memory of the sender, a process of the same host.
#pragma once

#include <functional>

#include "executor/ranks/Messages.h"
#include "executor/session/Transport.h"

namespace lstmc::ranks {

// The link carries a header and where the value is; the receiver reads it into its place, and sends
// the sequence number of the header back.

/// The value may be written over when it has been read. `wake` outlives it.
std::unique_ptr<Outgoing> pulledOutgoing(const session::Message &message, const Header &header,
                                         Link &link, int rank,
                                         const std::function<void(size_t)> &wake, int tag);

/// Has arrived when its header has.
std::unique_ptr<Incoming> pulledIncoming(const session::Message &message, const Header &header,
                                         Link &link, int rank,
                                         const std::function<void(size_t)> &wake, int tag);

} // namespace lstmc::ranks
