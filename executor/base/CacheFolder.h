// Where this user's caches are.
#pragma once

#include <string>

namespace lstmc {

/// LSTMC_CACHE_DIR, else XDG_CACHE_HOME/lstmc, else ~/.cache/lstmc; empty where there is none of
/// them. The folder need not be there.
std::string cacheFolder();

} // namespace lstmc
