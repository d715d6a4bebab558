// Ways to share devices out: what options leave open, and which of them a forecast likes best.
#pragma once

#include <functional>

#include "passes/Compile.h"

namespace lstmc::planning {

/// Whether the options leave it to forecasts which devices do what, in how many chunks, or who adds
/// gradients and updates.
bool leaveOpen(const passes::CompileOptions &options);

/// Compiles the net with options that leave nothing open; asked about many of them.
using CompileWith = std::function<Checked<passes::Compiled>(const passes::CompileOptions &)>;

/// What was found: the options that fit and are forecast to be fastest, what became of them, and
/// all that were weighed.
struct Choice {
  passes::CompileOptions options;
  passes::Compiled compiled; ///< without the memory limit
  std::vector<passes::Layout> layouts;
  Diagnostics diagnostics;
};

/// One device is compiled first; how long other layouts take is estimated from its launches, and
/// only the most promising are compiled. What was refused first, where nothing can be compiled.
Checked<Choice> choose(const passes::CompileOptions &options, const CompileWith &compileWith);

/// passes::compile, but where the options leave the layout open (`stages` 0, or stages and `chunks`
/// 0, or no store) several are compiled and the one that fits and is forecast to be fastest is
/// taken: with `stages` 0 that may be some of `devices`, in another order, with work loads of their
/// own.
Checked<passes::Compiled> compile(mlir::ModuleOp module, const passes::CompileOptions &options);

} // namespace lstmc::planning
