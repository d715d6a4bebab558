// How long packed weights keep their contents.
#pragma once

#include "executor/package/PackageData.h"

namespace lstmc::package {

/// Packed buffers keep their contents until an entry changes parameters: they are made again before
/// they are read next. Such an entry may use the memory of those that it does not touch itself, but
/// not for its inputs, which a caller may give long before it runs. By buffer: whether `entry` has
/// that of this one.
std::vector<bool> discardsPacked(const PackageData &data, const Entry &entry);

} // namespace lstmc::package
