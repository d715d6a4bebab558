// Errors for threads that cannot be started.
#pragma once

#include <string_view>
#include <system_error>

#include "executor/base/Status.h"

namespace lstmc {

/// E0901 for an exception of std::thread: names what was asked for ("8 threads of cpu:0"), how many
/// threads the process has and how many it may have.
Error noThread(std::string_view asked, const std::system_error &thrown);

} // namespace lstmc
