#include "backends/cuda/runtime/Nvml.h"

#include <dlfcn.h>

namespace lstmc::cuda {

Result<Nvml> loadNvml(const char *library) {
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return fail(ErrorCode::E0503, "NVML: {} was not found where the system looks for libraries",
                library);
  Nvml nvml;
  const char *missing = nullptr;
#define LSTMC_NVML(FIELD, SYMBOL, PARAMETERS)                                                      \
  nvml.FIELD = reinterpret_cast<NvmlResult(*) PARAMETERS>(dlsym(handle, SYMBOL));                  \
  if (!nvml.FIELD && !missing)                                                                     \
    missing = SYMBOL;
#include "backends/cuda/runtime/Nvml.def"
  if (missing)
    return fail(ErrorCode::E0503, "NVML: {} has no function {}", library, missing);
  if (NvmlResult error = nvml.init())
    return fail(ErrorCode::E0503, "NVML: {} was loaded, but does not answer (error {})", library,
                error);
  return nvml;
}

Result<const Nvml *> machineNvml() {
  static const Result<Nvml> loaded = loadNvml("libnvidia-ml.so.1");
  if (!loaded.ok())
    return loaded.error();
  return &*loaded;
}

} // namespace lstmc::cuda
