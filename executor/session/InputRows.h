// Which rows of an input the devices of this process read.
#pragma once

#include "executor/base/RowWindow.h"
#include "executor/package/PackageData.h"
#include "executor/session/BoundEntry.h"

namespace lstmc::session {

/// Along axis `axis` of an input of the entry, the least window of all rows that a device of this
/// process reads: in its own memory, or in that of a device that would send them. An input is not
/// sent to another process, which has it by itself (executor/ranks).
RowWindow rowsRead(const package::PackageData &data, const package::Entry &entry,
                   const package::Binding &input, int axis, const Devices &devices);

} // namespace lstmc::session
