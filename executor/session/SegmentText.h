// Describes the position of a device in its program, for messages.
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
