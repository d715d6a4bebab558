// A net that is compiled and run to see what its launches take.
#pragma once

#include <memory>
#include <string>

#include "executor/package/Package.h"
#include "executor/session/Session.h"
#include "passes/Compile.h"

namespace lstmc::planning {

/// Of a text of a module of sym.
Result<package::Package::Pointer> compileText(const std::string &text,
                                              const passes::CompileOptions &options);

/// On the devices of the package, with initial values.
Result<std::unique_ptr<Session>> openSession(const package::Package::Pointer &package, int threads);

} // namespace lstmc::planning
