// The options of a session, as the C interface takes them: checked, and as C++ has them.
#pragma once

#include <string>
#include <vector>

#include "executor/base/Arena.h"
#include "executor/c/Handles.h"
#include "executor/session/LaunchWatch.h"

namespace lstmc::c {

/// The caller's options; `given` may be null, and its struct shorter or longer than ours. E0001 for
/// a size that no version has had, what this version does not know, half an allocator, and threads
/// below 0.
Result<lstmc_session_options> checkedOptions(const lstmc_session_options *given);

/// What `entries` lists.
std::vector<std::string> entriesOf(const lstmc_session_options &options);

/// The plan of the package with the extents of `dims`. E0001 with those that there are.
Result<package::Package::Pointer> planOf(const lstmc_package &package,
                                         const lstmc_session_options &options);

/// Gives the caller's logger what is no failure.
LaunchWatch watchOf(const lstmc_session_options &options);

} // namespace lstmc::c
