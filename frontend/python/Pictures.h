// Networks, schedules and memory plans as SVG.
#pragma once

#include <nanobind/nanobind.h>

namespace lstmc::python {

void addPictures(nanobind::module_ &module);

} // namespace lstmc::python
