#include "backends/cuda/runtime/Cudnn.h"

#include "backends/cuda/text/LoadTable.h"

namespace lstmc::cuda {

/// Fills `library`; the first symbol that is missing.
static const char *fill(Cudnn &library, void *handle) {
  const char *missing = nullptr;
#define LSTMC_CUDNN(RESULT, FIELD, SYMBOL, PARAMETERS)                                             \
  library.FIELD = reinterpret_cast<RESULT(*) PARAMETERS>(dlsym(handle, SYMBOL));                   \
  if (!library.FIELD && !missing)                                                                  \
    missing = SYMBOL;
#include "backends/cuda/runtime/Cudnn.def"
  return missing;
}

std::string versionOf(const Cudnn &library) {
  const size_t number = library.version(); // from 9 on major * 10000 + minor * 100 + patch
  return fmt::format("{}.{}.{}", number / 10000, number / 100 % 100, number % 100);
}

Result<Cudnn> loadCudnn(const LibraryPlaces &places) {
  return loadTable<Cudnn>("cuDNN", places, fill);
}

Result<const Cudnn *> machineCudnn() {
  static const Result<Cudnn> loaded = loadCudnn(placesOf("libcudnn.so.9", {"cudnn/lib"}));
  if (!loaded.ok())
    return loaded.error();
  return &*loaded;
}

} // namespace lstmc::cuda
