// Where this user's caches are.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "executor/base/Status.h"

namespace lstmc {

/// LSTMC_CACHE_DIR, else XDG_CACHE_HOME/lstmc, else ~/.cache/lstmc; empty where there is none of
/// them. The folder need not be there.
std::string cacheFolder();

/// Replaces a file of a cache by these texts, one after the other. Nothing of that name is followed
/// or opened: a link, a pipe or a device that somebody has put there gives way to the file. (To
/// read one, readFileBeneath() of base/InputFile.h.) E0601.
Status keepInCache(const std::string &folder, const std::string &name,
                   std::span<const std::string_view> texts);

} // namespace lstmc
