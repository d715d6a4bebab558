#include "backends/cuda/runtime/Nccl.h"

#include <dlfcn.h>

#include "backends/cuda/text/LibraryPlaces.h"

namespace lstmc::cuda {

/// Fills `nccl`; the first symbol that is missing.
static const char *fill(Nccl &nccl, void *library) {
  const char *missing = nullptr;
#define LSTMC_NCCL(RESULT, FIELD, SYMBOL, PARAMETERS)                                              \
  nccl.FIELD = reinterpret_cast<RESULT(*) PARAMETERS>(dlsym(library, SYMBOL));                     \
  if (!nccl.FIELD && !missing)                                                                     \
    missing = SYMBOL;
#include "backends/cuda/runtime/Nccl.def"
  return missing;
}

std::string versionOf(const Nccl &nccl) {
  int number = 0;
  if (nccl.version(&number) != 0)
    return "";
  return fmt::format("{}.{}.{}", number / 10000, number / 100 % 100, number % 100);
}

Result<Nccl> loadNccl(std::span<const std::string> files) {
  std::string looked;
  for (const std::string &file : files) {
    Nccl nccl;
    void *library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    const char *missing = library ? fill(nccl, library) : nullptr;
    if (library && !missing)
      return nccl;
    looked += fmt::format("{}{}{}", looked.empty() ? "" : ", ", file,
                          missing ? fmt::format(" (has no function {})", missing) : "");
  }
  return fail(
      ErrorCode::E0503,
      "NCCL was not found; looked for {}, in the toolkit's folders and in those of Python's "
      "wheels",
      looked);
}

Result<const Nccl *> machineNccl() {
  static const Result<Nccl> loaded = loadNccl(placesOf("libnccl.so.2", {"nccl/lib"}));
  if (!loaded.ok())
    return loaded.error();
  return &*loaded;
}

} // namespace lstmc::cuda
