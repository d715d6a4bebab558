// Keywords of Python's calls as a request of the driver. The keywords are the fields of
// request.def.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>

#include "frontend/cli/Options.h"

namespace lstmc::python {

/// (flag without dashes, its value as text), in order.
using GivenFields = std::vector<std::pair<std::string, std::string>>;

/// The request of a job that is named as the command which does it. E0001 for a name that is no
/// field of that job, and for a value that its field does not take.
Result<cli::Options> optionsOf(const std::string &command, const GivenFields &given);

void addRequests(nanobind::module_ &module);

} // namespace lstmc::python
