// MODEL on the command line.
#pragma once

#include "frontend/cli/Options.h"
#include "frontend/driver/NamedModel.h"

namespace lstmc::cli {

/// E0001 unless there is one operand.
Status checkOneModel(const Options &options);

/// driver::loadModel() of options.operands[0].
Checked<Model> loadModel(const Options &options, const ModelRequest &request);

/// driver::readNamedModel() of it.
Checked<NamedModel> readNamedModel(const Options &options, const ModelRequest &request);

} // namespace lstmc::cli
