// Messages between devices that have channels: from arena to arena, without the host's memory.
#pragma once

#include <functional>

#include "executor/ranks/Channels.h"
#include "executor/ranks/Messages.h"
#include "executor/session/Transport.h"

namespace lstmc::ranks {

// The link carries a header to the receiver, and the answer, the sequence number of the header,
// back when the receiver's place is free; then both begin to move the value. So a difference is
// found before any byte moves, and no send waits on a device for a receiver that is busy.

/// The value may be written over when it is at the receiver. `wake` outlives it.
std::unique_ptr<Outgoing> channelOutgoing(const session::Message &message, const Header &header,
                                          Link &link, Channels &channels, ChannelMaker &maker,
                                          int rank, const std::function<void(size_t)> &wake,
                                          int tag);

/// Has arrived when its header has.
std::unique_ptr<Incoming> channelIncoming(const session::Message &message, const Header &header,
                                          Link &link, Channels &channels, ChannelMaker &maker,
                                          int rank, const std::function<void(size_t)> &wake,
                                          int tag);

} // namespace lstmc::ranks
