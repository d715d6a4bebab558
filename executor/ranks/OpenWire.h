// Finds and loads the library that moves bytes between processes.
#pragma once

#include <memory>
#include <string>

#include "executor/base/Status.h"
#include "executor/ranks/Wire.h"

namespace lstmc::ranks {

/// Where the library is: beside this program, or in lib/lstmc next to its folder. E0503 with the
/// command that installs what is missing, where it is in neither.
Result<std::string> findMpiLibrary();

/// The wire that the library at `path` gives, among the processes that were started together; null
/// with `error` filled. Link::open calls it on the link's thread.
std::unique_ptr<Wire> openMpiWire(const std::string &path, std::string &error);

} // namespace lstmc::ranks
