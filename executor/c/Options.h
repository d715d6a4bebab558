// The options of a session, as the C interface takes them: checked, and as C++ has them.
#pragma once

#include <string>
#include <string_view>
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

/// Whether planOf() finds one for these `dims`. E0001 for a text or a name that is none.
Result<bool> hasPlan(const lstmc_package &package, std::string_view dims);
/// Adds a plan for sessions that ask for these `dims`, unless there is one. E0001 for other extents
/// and for another network.
Status addPlan(lstmc_package &package, std::string_view dims, package::Package::Pointer plan);

/// Gives the caller's logger what is no failure.
LaunchWatch watchOf(const lstmc_session_options &options);

} // namespace lstmc::c
