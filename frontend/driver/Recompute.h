// MemoryOptions::recompute: what can be named there.
#pragma once

#include <set>
#include <string>

#include "frontend/driver/Request.h"
#include "frontend/symbol/Symbol.h"
#include "passes/Compile.h"

namespace lstmc::driver {

/// Fills in what is asked for. E0001 for what is neither a group nor an op of the net.
Status readRecompute(const MemoryOptions &options, const symbol::Graph &graph,
                     passes::CompileOptions &compile);

/// The ops of the net by name, all of which --recompute takes.
std::set<std::string> opsOf(const symbol::Graph &graph);

} // namespace lstmc::driver
