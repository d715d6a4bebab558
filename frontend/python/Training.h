// fit and score: the loop of `lstmc train`, told to Python.
#pragma once

#include <nanobind/nanobind.h>

namespace lstmc::python {

void addTraining(nanobind::module_ &module);

} // namespace lstmc::python
