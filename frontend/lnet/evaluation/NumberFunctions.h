// sqrt(32.0), log(2), maximum(a, b): functions of ops, of numbers that are known when the file
// runs.
#pragma once

#include "frontend/lnet/evaluation/Arguments.h"

namespace lstmc::lnet {

/// Evaluates an op on numbers, in double precision; floor, ceil and trunc return integers, as in
/// Python's math. Nullopt if an argument is not a number or the op is not supported.
std::optional<Value> numberOf(Run &run, const symbol::OpSignature &op, const Arguments &arguments);

} // namespace lstmc::lnet
