// What a request, its source and its job together ask of the compiler.
#pragma once

#include <vector>

#include "frontend/driver/Model.h"

namespace lstmc::driver {

/// fit(..) of the file, then --optimizer, --lr and --fit, then what the job insists on: the
/// last of a key counts. E0001 for a key that fit(..) does not take.
Result<std::vector<package::Setting>> fitInForce(const std::vector<symbol::Setting> &file,
                                                 const CompileRequest &options,
                                                 const ModelRequest &request);

/// All options of a compilation of `net`; `fit` as fitInForce() has it. E0001 for a value that is
/// out of range or names nothing, E0501 for a device that is not here.
Result<passes::CompileOptions> compileOptions(const symbol::Network &net,
                                              const CompileRequest &options,
                                              const ModelRequest &request,
                                              const std::vector<package::Setting> &fit);

} // namespace lstmc::driver
