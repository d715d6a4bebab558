// The compiler's half of the CPU target. Level-independent, since a package runs on every level.
#pragma once

#include "backends/target/Target.h"

namespace lstmc::cpu {

const target::Target &cpuTarget();

} // namespace lstmc::cpu
