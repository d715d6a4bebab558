#include "executor/base/CacheFolder.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

#include "executor/base/OutputFile.h"

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

Status keepInCache(const std::string &folder, const std::string &name,
                   std::span<const std::string_view> texts) {
  const std::string temporary = fmt::format("{}/.{}.{}", folder, name, randomSuffix());
  LSTMC_ASSIGN(OutputFile file, OutputFile::create(temporary, OutputFile::Existing::Keep));
  for (std::string_view text : texts)
    LSTMC_TRY(file.write(text));
  LSTMC_TRY(file.commit());
  const std::string path = folder + "/" + name;
  if (::rename(temporary.c_str(), path.c_str()) == 0)
    return {};
  const int error = errno;
  ::unlink(temporary.c_str());
  return failAt({path}, ErrorCode::E0601, "cannot write: {}", std::strerror(error));
}

} // namespace lstmc
