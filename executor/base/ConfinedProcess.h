// Takes from the calling process all that work on a file from a stranger does not need.
#pragma once

#include "executor/base/Confined.h"

namespace lstmc {

/// Whether this kernel has Landlock, which closes the file system.
bool canConfine();

/// For good, and for all threads to come. False if the kernel refuses; then the process must end.
bool confineThisProcess(const Confinement &confinement);

} // namespace lstmc
