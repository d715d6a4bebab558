// Addresses of this machine, as other hosts of a job see them.
#pragma once

#include <string>
#include <vector>

#include "executor/base/Status.h"

namespace lstmc::launch {

/// Whether the name is this machine's: localhost, its own name, or an address that it has.
bool isThisMachine(const std::string &host);

/// The IPv4 address of a network interface. E0001 with the names of all that have one.
Result<std::string> addressOfInterface(const std::string &name);

/// The IPv4 address from which this machine reaches the host. E0801 where its name has no address
/// here, or no network leads there.
Result<std::string> addressTowards(const std::string &host);

/// ADDRESS:PORT of the peer of a connection.
std::string peerOf(int socket);

} // namespace lstmc::launch
