// A program of launches as a picture: what plans are from lower-to-exec on.
#pragma once

#include "ir/exec/Exec.h"
#include "viz/Network.h"

namespace lstmc::viz {

/// DOT of the program of an entry: a box per launch, an edge per buffer from whoever wrote what is
/// read. What lives between calls is part of the box that reads it.
std::string launchDot(exec::ProgramOp program, const NetworkOptions &options);

} // namespace lstmc::viz
