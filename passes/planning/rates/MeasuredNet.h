// Compiles and runs a net to measure its launches.
#pragma once

#include <memory>
#include <string>

#include "executor/package/Package.h"
#include "executor/session/Session.h"
#include "passes/Compile.h"

namespace lstmc::planning {

/// Compiles the text of a sym module.
Result<package::Package::Pointer> compileText(const std::string &text,
                                              const passes::CompileOptions &options);

/// Opens a session on the devices of the package, with initial values.
Result<std::unique_ptr<Session>> openSession(const package::Package::Pointer &package, int threads);

} // namespace lstmc::planning
