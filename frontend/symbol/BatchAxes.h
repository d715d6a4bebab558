// Which axis of an input is the batch, where nothing but its readers says so.
#pragma once

#include <map>
#include <string>

#include "frontend/symbol/Symbol.h"

namespace lstmc::symbol {

/// The batch axis of every input of two axes or more. Those of `known` are given. Of other data it
/// is the second where a fused recurrence reads the first as its steps (`RNN` reads [T, N, C]),
/// else the first. A label has it where the data of its loss have it, else first. `graph` is
/// finished, and its module not taken.
std::map<std::string, int> batchAxes(const Graph &graph, const std::map<std::string, int> &known);

} // namespace lstmc::symbol
