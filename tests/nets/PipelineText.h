// Judge: the pipeline that `compile` reports makes the package that it makes.
#pragma once

#include <string>

#include "passes/Compile.h"

namespace lstmc::nets {

/// Runs `compiled.pipeline` and `compiled.passes`, in contexts of their own, on `sourceText`, as
/// `lstmc opt` does. Empty if both give the package's bytes; else what differs.
std::string judgePipelineText(const passes::Compiled &compiled);

} // namespace lstmc::nets
