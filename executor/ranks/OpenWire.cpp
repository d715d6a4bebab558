#include "executor/ranks/OpenWire.h"

#include <filesystem>

#include <dlfcn.h>

#include "executor/base/OwnProgram.h"

namespace lstmc::ranks {

namespace fs = std::filesystem;

static constexpr const char *kFile = "liblstmc-mpi.so";

Result<std::string> findMpiLibrary() {
  std::error_code error;
  const fs::path folder = fs::path(ownProgram()).parent_path();
  for (const fs::path &place : {folder / kFile, folder / ".." / "lib" / "lstmc" / kFile})
    if (fs::exists(place, error))
      return place.lexically_normal().string();
  return fail(
      ErrorCode::E0503,
      "{}: not beside this program nor in ../lib/lstmc; ranks need Open MPI: apt-get install "
      "libopenmpi-dev openmpi-bin, then build lstmc again",
      kFile);
}

std::unique_ptr<Wire> openMpiWire(const std::string &path, std::string &error) {
  // Open MPI loads parts of itself, which look for its names among those that all see.
  void *library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!library) {
    error = std::string("the library for MPI cannot be loaded: ") + ::dlerror();
    return nullptr;
  }
  auto open = reinterpret_cast<OpenWireFunction>(::dlsym(library, kOpenWire));
  if (!open) {
    error = path + " is not the library of this version";
    return nullptr;
  }
  return std::unique_ptr<Wire>(open(error));
}

} // namespace lstmc::ranks
