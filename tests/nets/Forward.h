// Compares what forward computes with what the ops as written give.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "tests/nets/Bench.h"

namespace lstmc::nets {

/// Empty if the outputs of two calls of forward, in f64, are those of the interpreter of the net
/// that no pass has seen (plain/). Random numbers are switched off. Where an output jumps or is so
/// steep that roundings move it as far, it is not compared; `counts` has how often.
std::string judgeForward(const Bench &bench, uint64_t seed, std::map<std::string, int64_t> &counts);

} // namespace lstmc::nets
