// Ways to share devices out: what options leave open, and which of them a forecast likes best.
#pragma once

#include <functional>

#include "passes/Compile.h"

namespace lstmc::passes {

/// Whether the options leave it to forecasts which devices do what, in how many chunks, or who adds
/// gradients and updates.
bool leaveOpen(const CompileOptions &options);

/// Compiles the net with options that leave nothing open; asked about many of them.
using CompileWith = std::function<Checked<Compiled>(const CompileOptions &)>;

/// What was found: the options that fit and are forecast to be fastest, what became of them, and
/// all that were weighed.
struct Choice {
  CompileOptions options;
  Compiled compiled; ///< without the memory limit
  std::vector<Layout> layouts;
  Diagnostics diagnostics;
};

/// One device is compiled first; how long other layouts take is estimated from its launches, and
/// only the most promising are compiled. What was refused first, where nothing can be compiled.
Checked<Choice> choose(const CompileOptions &options, const CompileWith &compileWith);

} // namespace lstmc::passes
