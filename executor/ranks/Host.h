// Which host this is.
#pragma once

#include <string>

namespace lstmc::ranks {

/// Identifies the boot of the machine and the namespace of processes in which process numbers are
/// unique. One word.
std::string processSpace();

/// The same with the namespace of networks: differs between hosts, also those of one name, such as
/// containers. One word.
std::string hostSpace();

/// The name that this host goes by, for people.
std::string hostName();

} // namespace lstmc::ranks
