#include "backends/cuda/runtime/CublasLt.h"

#include "backends/cuda/text/LoadTable.h"

namespace lstmc::cuda {

/// Fills `library`; the first symbol that is missing.
static const char *fill(CublasLt &library, void *handle) {
  const char *missing = nullptr;
#define LSTMC_CUBLASLT(RESULT, FIELD, SYMBOL, PARAMETERS)                                          \
  library.FIELD = reinterpret_cast<RESULT(*) PARAMETERS>(dlsym(handle, SYMBOL));                   \
  if (!library.FIELD && !missing)                                                                  \
    missing = SYMBOL;
#include "backends/cuda/runtime/CublasLt.def"
  return missing;
}

std::string versionOf(const CublasLt &library) {
  const size_t number = library.version();
  // From 12 on major * 10000 + minor * 100 + patch.
  return fmt::format("{}.{}.{}", number / 10000, number / 100 % 100, number % 100);
}

Result<CublasLt> loadCublasLt(const LibraryPlaces &places) {
  return loadTable<CublasLt>("cuBLASLt", places, fill);
}

Result<const CublasLt *> machineCublasLt(int driverVersion) {
  constexpr int kOldestMajor = 12;
  static const Result<CublasLt> loaded = [&] {
    LibraryPlaces places;
    for (int major = driverVersion / 1000; major >= kOldestMajor; --major)
      places.add(placesOf(fmt::format("libcublasLt.so.{}", major),
                          {fmt::format("cu{}/lib", major), "cublas/lib"}));
    return loadCublasLt(places);
  }();
  if (!loaded.ok())
    return loaded.error();
  return &*loaded;
}

} // namespace lstmc::cuda
