// The version of the package format and of the kernel list that a package may name.
#pragma once

#include <cstdint>

namespace lstmc {

/// Raised with any change that an older runtime could not carry out. Appending a kernel, a scalar
/// operation or a field whose default means "as before" raises it too: an older runtime lacks them.
inline constexpr uint32_t kPackageAbi = 7;

} // namespace lstmc
