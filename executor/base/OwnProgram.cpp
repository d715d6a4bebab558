#include "executor/base/OwnProgram.h"

#include <filesystem>

#include <sys/auxv.h>

namespace lstmc {

namespace fs = std::filesystem;

std::string ownProgram() {
  std::error_code error;
  if (const fs::path file = fs::read_symlink("/proc/self/exe", error); !error)
    return file.string();
  // Written by the kernel; a number by type.
  const auto *name = reinterpret_cast<const char *>(::getauxval(AT_EXECFN));
  const fs::path asStarted = fs::absolute(name ? name : "lstmc", error);
  const fs::path file = fs::canonical(asStarted, error);
  return error ? asStarted.string() : file.string();
}

} // namespace lstmc
