// Runs a package that has passed the check.
#pragma once

#include "executor/package/Package.h"
#include "tests/fuzz/Mutate.h"

namespace lstmc::fuzz {

/// Opens a session with the kernels of a level, binds inputs with numbers from `choices`, computes
/// initial values and runs every entry. Returns false without running if the package needs more
/// memory or arithmetic than a fuzzer allows.
bool runPackage(package::Package::Pointer package, Choices &choices);

} // namespace lstmc::fuzz
