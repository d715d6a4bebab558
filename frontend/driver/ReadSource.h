// Sources that were read already: texts of programs.
#pragma once

#include "frontend/driver/Model.h"
#include "frontend/importers/Importer.h"

namespace lstmc::driver {

/// As loadSource() of Model.h for the source at a path.
Checked<symbol::Network> loadSource(const importers::Source &source, const CompileRequest &options,
                                    const ModelRequest &request = {});

} // namespace lstmc::driver
