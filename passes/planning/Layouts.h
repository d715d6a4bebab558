// Search for the fastest layout among those that the options leave open.
#pragma once

#include <functional>

#include "passes/Compile.h"

namespace lstmc::planning {

/// Whether the options leave the layout to forecasts: device placement, number of chunks, gradient
/// reduction or update location.
bool leaveOpen(const passes::CompileOptions &options);

/// Compiles the net with fully specified options; called for several layouts.
using CompileWith = std::function<Checked<passes::Compiled>(const passes::CompileOptions &)>;

/// The fastest layout that fits by forecast, its compilation, and all layouts that were compared.
struct Choice {
  passes::CompileOptions options;
  passes::Compiled compiled; ///< without the memory limit
  std::vector<passes::Layout> layouts;
  Diagnostics diagnostics;
};

/// Compiles for one device first and estimates the time of other layouts from its launches; only
/// the most promising are compiled. If nothing compiles, returns the first errors.
Checked<Choice> choose(const passes::CompileOptions &options, const CompileWith &compileWith);

/// passes::compile(), with a search if the options leave the layout open (`stages` 0, or several
/// stages and `chunks` 0, or no store): compiles several layouts and returns the one that fits and
/// is forecast to be fastest. With `stages` 0 it may use a reordered subset of `devices`, with its
/// own work loads.
Checked<passes::Compiled> compile(mlir::ModuleOp module, const passes::CompileOptions &options);

} // namespace lstmc::planning
