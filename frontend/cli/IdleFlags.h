// Flags that are typed and change nothing of what is compiled.
#pragma once

#include <functional>

#include "frontend/cli/Console.h"
#include "frontend/cli/Options.h"
#include "frontend/driver/TrainJob.h"
#include "passes/Compile.h"

namespace lstmc::cli {

// All are warnings. Values of config files and of the environment are for several commands, so
// nothing is said of them.

/// Flags of updates where no entry updates anything, those of several devices where there is one,
/// --bigarray-bound where it cuts nothing, --staleness of a store that waits, --data of a plan
/// without buckets.
Diagnostics idleFlags(const Options &options, const passes::CompileOptions &compile,
                      const passes::Compiled &compiled);

/// Shows them; the first as an error with --werror.
Status warned(const Diagnostics &found, const Options &options, const Console &console);

/// Flags of validations, of copies of the weights and of ranks, where there are none.
Diagnostics idleInTraining(const Options &options, const TrainJob &job);

/// Tolerances of `run` without --expect-output.
Diagnostics idleInRun(const Options &options);

/// Flags of what is compiled, of a picture of a source on one device.
Diagnostics idleInDrawing(const Options &options);

/// The first for ModelRequest::findings; `options` must outlive it.
std::function<Diagnostics(const passes::CompileOptions &, const passes::Compiled &)>
idleFlagsIn(const Options &options);

} // namespace lstmc::cli
