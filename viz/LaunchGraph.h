// A program of launches as a picture, for plans from lower-to-exec on.
#pragma once

#include "ir/exec/Exec.h"
#include "viz/Network.h"

namespace lstmc::viz {

/// DOT of an entry's program: a box per launch, and an edge per buffer from its writer to its
/// reader. Persistent buffers are part of the box that reads them.
std::string launchDot(exec::ProgramOp program, const NetworkOptions &options);

} // namespace lstmc::viz
