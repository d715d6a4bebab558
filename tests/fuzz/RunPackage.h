// Carries out a package that the check has passed.
#pragma once

#include "executor/package/Package.h"
#include "tests/fuzz/Mutate.h"

namespace lstmc::fuzz {

/// Opens a session with the kernels of a level, binds inputs with numbers as `choices` says, makes
/// initial values and runs every entry. False, with nothing run, where the package asks for more
/// memory or arithmetic than a fuzzer gives.
bool runPackage(package::Package::Pointer package, Choices &choices);

} // namespace lstmc::fuzz
