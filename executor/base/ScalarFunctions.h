// The functions of base/functions/Functions.h, compiled once.
#pragma once

#include "executor/abi/ScalarOps.h"

namespace lstmc {

/// real::evaluate. Faster where the processor has an instruction for fma, with the same bits.
double functionInF64(ScalarOp op, double a, double b = 0);

} // namespace lstmc
