// Describes in messages how far a device has come.
#pragma once

#include <string>

#include "executor/base/Status.h"
#include "executor/session/BoundEntry.h"

namespace lstmc::session {

/// "launch 4 of step, fc (FullyConnected)"
std::string segmentText(const package::Package &package, const BoundEntry &entry,
                        const BoundProgram &program, const Segment &segment);
/// The source location of the segment's first launch.
Place placeOf(const package::Package &package, const BoundProgram &program, const Segment &segment);

} // namespace lstmc::session
