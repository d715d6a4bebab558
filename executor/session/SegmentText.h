// What messages say of where a device stands.
#pragma once

#include <string>

#include "executor/base/Status.h"
#include "executor/session/BoundEntry.h"

namespace lstmc::session {

/// "launch 4 of step, fc (FullyConnected)"
std::string segmentText(const package::Package &package, const BoundEntry &entry,
                        const BoundProgram &program, const Segment &segment);
/// The place in the source of the segment's first launch.
Place placeOf(const package::Package &package, const BoundProgram &program, const Segment &segment);

} // namespace lstmc::session
