// The network that plot draws, as its flags ask for it.
#pragma once

#include <string>

#include "frontend/cli/CommandResult.h"
#include "frontend/cli/Console.h"
#include "viz/Diagram.h"

namespace lstmc::cli {

struct PlottedNetwork {
  viz::Diagram diagram;
  std::string dotAfterPass; ///< with --after, in place of the diagram
};

/// Of a source, a package or a checkpoint. E0001 for words and flags that do not go with it, and
/// what loading and compiling it says.
Checked<PlottedNetwork> networkAsked(const Options &options, Console &console);

} // namespace lstmc::cli
