// Which axis of an input is the batch, where nothing but its readers says so.
#pragma once

#include <string>
#include <vector>

#include "frontend/symbol/Symbol.h"

namespace lstmc::symbol {

/// Inputs of two axes or more whose first axis are the steps of a fused recurrence (`RNN` reads
/// [T, N, C]), so that their batch is the second. `graph` is finished, and its module not taken.
std::vector<std::string> inputsReadAsSteps(const Graph &graph);

} // namespace lstmc::symbol
