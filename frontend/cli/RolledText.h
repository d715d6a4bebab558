// Recurrent layers that a source has step by step, in words.
#pragma once

#include <string>

#include "passes/Compile.h"

namespace lstmc::cli {

/// "rolled l0: 12 steps of lstm", "not rolled l1: 12 steps of loop: its steps are not those of ..".
std::string rolledLine(const passes::RolledLayer &layer);

} // namespace lstmc::cli
