// MXNet's files for Python: the reader and the writer of frontend/importers/mxnet.
#pragma once

#include <nanobind/nanobind.h>

namespace lstmc::python {

void addMxnetFiles(nanobind::module_ &module);

} // namespace lstmc::python
