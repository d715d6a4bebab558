// The version of the package format, which includes the list of kernels.
#pragma once

#include <cstdint>

namespace lstmc {

/// Raised with any change that an older runtime could not execute. That includes appending a
/// kernel, a scalar operation, or a field whose default means "as before", because an older runtime
/// lacks them.
inline constexpr uint32_t kPackageAbi = 13;

} // namespace lstmc
