// --init-params: weights to begin a training with.
#pragma once

#include "frontend/cli/Model.h"

namespace lstmc::cli {

/// Gives parameters the tensors of their names and shapes in a safetensors file, an npz or a
/// checkpoint, and says which were found and which were not; the others keep their values. E0610 if
/// there is none, E0701 for a value that is not finite, and the errors of the readers.
Status initParams(Session &session, const std::string &path, const Options &options,
                  Console &console);

} // namespace lstmc::cli
