// MODEL on the command line.
#pragma once

#include "frontend/cli/Options.h"
#include "frontend/driver/Model.h"

namespace lstmc::cli {

/// E0001 unless there is one operand.
Status checkOneModel(const Options &options);

/// driver::loadModel() of options.operands[0].
Checked<Model> loadModel(const Options &options, const ModelRequest &request);

} // namespace lstmc::cli
