// What --mem changes so that a training fits.
#pragma once

#include <functional>
#include <optional>

#include "frontend/driver/Model.h"

namespace lstmc::driver {

/// Compiles the source with other options.
using CompileWith = std::function<Checked<Model>(const CompileRequest &)>;

/// For a training of the source `path` that does not fit into --mem, where --recompute says
/// nothing: with layers computed again, as few as are enough and those first that take the least
/// time per byte, or with the steps computed again in segments. Where neither fits and --accumulate
/// says nothing: with the batch in 2, 4 or 8 parts, alone or together with one of the two. Of what
/// fits, what takes the least time by forecast; Model::recomputed says it. None where nothing fits.
std::optional<Model> withLessMemory(const std::string &path, const CompileRequest &options,
                                    const ModelRequest &request, const CompileWith &compile);

} // namespace lstmc::driver
