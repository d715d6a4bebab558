#include "executor/base/CacheFolder.h"

#include <cstdlib>

namespace lstmc {

std::string cacheFolder() {
  auto variable = [](const char *name) {
    const char *value = std::getenv(name);
    return std::string(value ? value : "");
  };
  if (std::string folder = variable("LSTMC_CACHE_DIR"); !folder.empty())
    return folder;
  if (std::string folder = variable("XDG_CACHE_HOME"); !folder.empty())
    return folder + "/lstmc";
  if (std::string folder = variable("HOME"); !folder.empty())
    return folder + "/.cache/lstmc";
  return "";
}

} // namespace lstmc
