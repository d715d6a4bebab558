// Compares gradients with differences of forward.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "tests/nets/Bench.h"

namespace lstmc::nets {

/// Empty if the gradient of every parameter, along a random direction, equals central differences
/// in f64: for the net's outputs times random factors, without heads and dropout. Where forward has
/// a corner or is not finite, the gradient is not checked; `counts` has how often.
std::string judgeGradients(const Bench &bench, uint64_t seed,
                           std::map<std::string, int64_t> &counts);

} // namespace lstmc::nets
