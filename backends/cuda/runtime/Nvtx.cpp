#include "backends/cuda/runtime/Nvtx.h"

#include <dlfcn.h>

#include <cstdlib>

#include "backends/cuda/runtime/NvtxTables.h"

namespace lstmc::cuda {

using namespace nvtx;

namespace {

/// What the profiler puts in, by module, and where it does.
Function functions[kModules][kMostFunctions];
Function *places[kModules][kMostFunctions + 1]; ///< a null one at the end

int tableOf(int module, FunctionTable *table, unsigned *count) {
  if (module < Core || module >= kModules)
    return 0;
  for (unsigned i = 1; i < kFunctions[module]; ++i)
    places[module][i] = &functions[module][i];
  if (table)
    *table = places[module];
  if (count)
    *count = kFunctions[module];
  return 1;
}

const void *exportTable(uint32_t id) {
  static constexpr Callbacks kTables = {sizeof(Callbacks), tableOf};
  static constexpr VersionInfo kInfo = {sizeof(VersionInfo), kVersion, 0, [](uint32_t) {}};
  if (id == kCallbacks)
    return &kTables;
  return id == kVersionInfo ? &kInfo : nullptr;
}

} // namespace

Result<Nvtx> loadProfiler(const char *file) {
  void *library = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
  if (!library)
    return fail(ErrorCode::E0503, "{}: no library", file);
  const auto initialise = reinterpret_cast<Initialise>(dlsym(library, "InitializeInjectionNvtx2"));
  if (!initialise || !initialise(exportTable))
    return fail(ErrorCode::E0503, "{}: no profiler that listens", file);
  const Nvtx found = {reinterpret_cast<int (*)(const char *)>(functions[Core][kRangePush]),
                      reinterpret_cast<int (*)()>(functions[Core][kRangePop])};
  if (!found.push || !found.pop)
    return fail(ErrorCode::E0503, "{}: a profiler that wants no ranges", file);
  return found;
}

const Nvtx *machineProfiler() {
  static const Nvtx found = [] {
    const char *file = std::getenv("NVTX_INJECTION64_PATH");
    const Result<Nvtx> loaded = file ? loadProfiler(file) : Result<Nvtx>(Nvtx());
    return loaded.ok() ? *loaded : Nvtx();
  }();
  return found.push ? &found : nullptr;
}

} // namespace lstmc::cuda
