// Ways to share devices out: what options leave open, and what a package of one is worth.
#pragma once

#include "passes/Compile.h"

namespace lstmc::passes {

/// The options once per layout that they allow, nothing left open; the simplest first.
std::vector<CompileOptions> openLayouts(const CompileOptions &options);

/// What is forecast of a package that was compiled with `options`.
Layout weigh(const package::PackageData &data, const CompileOptions &options);

} // namespace lstmc::passes
