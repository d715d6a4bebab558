// A finished graph a second time, for a program that compiles it and keeps its own.
#pragma once

#include <memory>

#include "frontend/symbol/Symbol.h"

namespace lstmc::symbol {

/// With the module, settings and places of `graph`, in an MLIR context of its own.
std::unique_ptr<Graph> copyOf(const Graph &graph);

} // namespace lstmc::symbol
