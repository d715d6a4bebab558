// Images of compiled text, kept for the next load of the same package.
#pragma once

#include <string>

#include "backends/cuda/text/TextCompiler.h"

namespace lstmc::cuda {

/// The image of a text: what this process compiled before, else what the user's cache has, else
/// compiled now and put there. The cache is the folder `kernels` of base/CacheFolder.h. It is used
/// only if it is a folder of this user that nobody else may read or write; it is made so. A file in
/// it that is damaged is replaced. Without a cache everything works, and takes longer.
Result<Bytes> imageOf(const TextCompiler &compiler, const std::string &text, int architecture);

} // namespace lstmc::cuda
