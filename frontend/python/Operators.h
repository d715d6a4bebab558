// The op records as Python sees them.
#pragma once

#include <nanobind/nanobind.h>

namespace lstmc::python {

/// `operators()`: (name, aliases, inputs, variadic, attributes, summary), where an input is (name,
/// what becomes of it when it is left out) and an attribute (name, kind, default, aliases).
void addOperators(nanobind::module_ &module);

} // namespace lstmc::python
