// Weights of other frameworks, by the rules of `lstmc import`.
#pragma once

#include <nanobind/nanobind.h>

namespace lstmc::python {

void addImports(nanobind::module_ &module);

} // namespace lstmc::python
