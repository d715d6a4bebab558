// Flags that are typed and change nothing of what is compiled.
#pragma once

#include <functional>

#include "frontend/cli/Options.h"
#include "passes/Compile.h"

namespace lstmc::cli {

/// Warnings: flags of updates where no entry updates anything, --bigarray-bound where it cuts
/// nothing, --staleness of a store that waits, --data of a plan without buckets. Values of config
/// files and of the environment are for several commands, so nothing is said of them.
Diagnostics idleFlags(const Options &options, const passes::CompileOptions &compile,
                      const passes::Compiled &compiled);

/// The same for ModelRequest::findings; `options` must outlive it.
std::function<Diagnostics(const passes::CompileOptions &, const passes::Compiled &)>
idleFlagsIn(const Options &options);

} // namespace lstmc::cli
