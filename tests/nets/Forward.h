// Compares the results of forward with the ops as written.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "tests/nets/Bench.h"

namespace lstmc::nets {

/// Empty if the outputs of two calls of forward, in f64, equal those of the interpreter on the net
/// before any pass (plain/). Random numbers are switched off. Outputs that jump, or are so steep
/// that roundings move them as far, are not compared; `counts` counts these.
std::string judgeForward(const Bench &bench, uint64_t seed, std::map<std::string, int64_t> &counts);

} // namespace lstmc::nets
