// Which launches write over what a program has sent.
#pragma once

#include <map>

#include "executor/package/PackageData.h"

namespace lstmc::package {

/// For each launch, by its index, the messages that it is the first to write over, possibly through
/// another buffer at the same place: before it, the sender waits until they are taken. A message
/// that no launch writes over may be taken until the program's part ends, where all devices meet.
std::multimap<size_t, int64_t> overwrittenMessages(const PackageData &data,
                                                   const DeviceProgram &program);

} // namespace lstmc::package
