#include "backends/cuda/runtime/Nccl.h"

#include "backends/cuda/text/LoadTable.h"

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

Result<Nccl> loadNccl(const LibraryPlaces &places) { return loadTable<Nccl>("NCCL", places, fill); }

Result<const Nccl *> machineNccl() {
  static const Result<Nccl> loaded = loadNccl(placesOf("libnccl.so.2", {"nccl/lib"}));
  if (!loaded.ok())
    return loaded.error();
  return &*loaded;
}

} // namespace lstmc::cuda
