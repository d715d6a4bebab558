// Initial values element by element. Compiled once.
#pragma once

#include "executor/device/Kernel.h"

namespace lstmc::cpu {

/// Kinds whose elements do not depend on one another: elements begin to end - 1 of w.
void initialElements(const LaunchArgs &args, int64_t begin, int64_t end);

/// What Orthogonal starts from: elements 0 to count - 1.
void orthogonalStart(const LaunchArgs &args, double *matrix, int64_t count);

} // namespace lstmc::cpu
