// Threads that cannot be had.
#pragma once

#include <string_view>
#include <system_error>

#include "executor/base/Status.h"

namespace lstmc {

/// E0902 for what std::thread threw: what was asked for ("8 threads of cpu:0"), what the process
/// has and what it may have.
Error noThread(std::string_view asked, const std::system_error &thrown);

} // namespace lstmc
