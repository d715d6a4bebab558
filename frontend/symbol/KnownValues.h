// What is known of a symbol's values while the graph is built.
#pragma once

#include <optional>

#include "frontend/symbol/Symbol.h"

namespace lstmc::symbol {

/// The number that all elements equal, where the ops that make the symbol say so; else nullopt.
std::optional<double> constantOf(const Symbol &symbol);

/// Whether both have one type, as far as their extents and element types are known.
bool mayBeOfOneType(const Symbol &a, const Symbol &b);

} // namespace lstmc::symbol
