// The compiler's half of the target that computes nothing.
#pragma once

#include "backends/target/Target.h"

namespace lstmc::null {

/// Every launch costs the same, whatever it does, and nothing is measured.
const target::Target &nullTarget();

/// What a launch costs: what the executor itself needs for one, about.
inline constexpr double kLaunchSeconds = 1e-6;

} // namespace lstmc::null
