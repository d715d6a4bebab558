// Launches of a program on several streams.
#pragma once

#include <vector>

#include "ir/exec/Access.h"
#include "passes/Placement.h"

namespace lstmc::passes {

/// Shares the launches of a program out to `streams` streams, and adds the events that their order
/// needs: of two launches that touch a common element, one writing it, the later one in the list
/// comes after the other, and no event follows from the others. Transfers stay on stream 0. Where
/// there is one stream, or the program has too many operands for several (kMaxStreamedOperands), it
/// is left as it is.
void assignStreams(exec::ProgramOp program, const exec::Access &access, unsigned streams);

/// What is done when each launch of a program begins, by streams, events and the commit, at which
/// all streams come together.
std::vector<StreamClock> clocksOf(exec::ProgramOp program);

} // namespace lstmc::passes
