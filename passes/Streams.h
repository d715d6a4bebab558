// Assignment of launches to streams.
#pragma once

#include <vector>

#include "ir/exec/Access.h"
#include "passes/Placement.h"

namespace lstmc::passes {

/// Distributes the launches of a program over `streams` streams and adds a minimal set of events,
/// such that two launches that touch a common element, one of them writing, keep their program
/// order. Transfers stay on stream 0. Leaves the program unchanged if `streams` is 1 or the program
/// has more operands than kMaxStreamedOperands.
void assignStreams(exec::ProgramOp program, const exec::Access &access, unsigned streams);

/// The vector clock at the begin of each launch of a program, from streams, events and the commit,
/// which synchronises all streams.
std::vector<StreamClock> clocksOf(exec::ProgramOp program);

} // namespace lstmc::passes
