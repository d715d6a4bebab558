// A drawing as plain data, for writers of other formats in Python.
#pragma once

#include <nanobind/nanobind.h>

#include "frontend/symbol/Symbol.h"

namespace lstmc::python {

/// (inputs, nodes, outputs) of a graph that is finished, if only for its names. An input is (name,
/// dtype); a node a dict of kind ("variable", "state", "op"), name, op, inputs [(input's name,
/// edge)], attributes [(name, value)] that are not at their defaults, outputs, dtype, shape, init
/// as lstmc/init.py has it or None, lr_mult, wd_mult, group, recompute. An edge is (whether it is
/// an input, number of the input or node, number of the output).
nanobind::tuple nodesOf(const symbol::Graph &graph);

} // namespace lstmc::python
