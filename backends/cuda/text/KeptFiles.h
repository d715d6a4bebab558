// What was found out about a GPU, or compiled for one, kept in the user's cache.
#pragma once

#include <span>
#include <string>

#include "executor/base/InputFile.h"

namespace lstmc::cuda {

/// A file of the folder `kernels` of base/CacheFolder.h, which is used only if it is a folder of
/// this user that nobody else may read or write; it is made so. Refused where there is none, or it
/// is damaged.
Result<Bytes> keptFile(const std::string &name);
/// Replaces the file. A cache that cannot be written to is no error.
void keepFile(const std::string &name, std::span<const uint8_t> bytes);

} // namespace lstmc::cuda
