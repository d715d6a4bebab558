// CompileOptions of a program as the request of the driver.
#pragma once

#include "frontend/driver/Request.h"
#include "frontend/library/CompileOptions.h"

namespace lstmc {

enum class Source { Graph, File };

/// E0001, as for the flag, for a value that is none of its field's, and for a graph where a field
/// is for files.
Result<driver::CompileRequest> requestOf(const CompileOptions &options, Source source);

} // namespace lstmc
