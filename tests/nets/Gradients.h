// Gradients against differences of forward.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "tests/nets/Bench.h"

namespace lstmc::nets {

/// Empty where the gradient of every parameter, along a random direction, is what central
/// differences in f64 say: of the net's outputs times random factors, heads and dropout left out.
/// Where forward has a corner or is not finite nothing is said; `counts` has how often.
std::string judgeGradients(const Bench &bench, uint64_t seed,
                           std::map<std::string, int64_t> &counts);

} // namespace lstmc::nets
