// A source to a package on disk: what `compile` does, and `import -o F.lstmc` at its end.
#pragma once

#include "frontend/cli/Console.h"
#include "frontend/cli/Operand.h"
#include "frontend/cli/Trace.h"

namespace lstmc::cli {

/// Compiles options.operands[0] into --output, with the weights of --params beside it; with
/// --dry-run nothing is written. Says the plan on stderr, and nothing on stdout. E0001 for what is
/// compiled already.
Checked<Model> compilePackage(const Options &options, Trace &trace, Console &console);

/// "F.lstmc  1234 bytes  cpu:0 peak 29.8 KiB"
std::string packageLine(const Model &model, const Options &options);

} // namespace lstmc::cli
