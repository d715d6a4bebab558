// sqrt(32.0), log(2), maximum(a, b): functions of ops, of numbers that are known when the file
// runs.
#pragma once

#include "frontend/lnet/evaluation/Arguments.h"

namespace lstmc::lnet {

/// What the op of that name computes of numbers, in double precision; floor, ceil and trunc give
/// integers, as in Python's math. Nothing if an argument is no number or the op is not known here.
std::optional<Value> numberOf(Run &run, const symbol::OpSignature &op, const Arguments &arguments);

} // namespace lstmc::lnet
