// Which outputs of an entry follow from which of its inputs.
#pragma once

#include <string>
#include <vector>

#include "executor/package/PackageData.h"

namespace lstmc::session {

/// The names of the entry's outputs whose values depend on any of these inputs, in the order of the
/// outputs. States are not looked at: what an earlier run left in them depends on nothing here.
std::vector<std::string> dependents(const package::PackageData &data, const package::Entry &entry,
                                    const std::vector<std::string> &inputs);

} // namespace lstmc::session
