// libcuda.so.1, libcublasLt.so.13, libcudnn.so.9 and libnccl.so.2 of emulated GPUs, in one file:
// what a program does with `gpu:0` is carried out by the emulated GPU's tables. Images are code for
// real GPUs, so a kernel is found by its name.
#include <cstdio>
#include <cstring>

#include "backends/cuda/emulated/EmulatedCards.h"
#include "backends/cuda/emulated/EmulatedCublasLt.h"
#include "backends/cuda/emulated/EmulatedCudnn.h"
#include "backends/cuda/emulated/EmulatedDriver.h"
#include "backends/cuda/emulated/EmulatedKernels.h"
#include "backends/cuda/emulated/EmulatedNccl.h"

namespace lstmc::cuda {
namespace {

/// What nvcc makes; text and code of NVRTC are refused, since nothing here can carry it out.
DriverResult loadModule(DriverModule *module, const void *image) {
  constexpr uint32_t kFatBinary = 0xBA55ED50;
  if (std::memcmp(image, &kFatBinary, sizeof(kFatBinary)) != 0)
    return emulated::kInvalidImage;
  *module = emulated::handleOf<DriverModule>(new char);
  return 0;
}
DriverResult unloadModule(DriverModule module) {
  delete reinterpret_cast<char *>(module);
  return 0;
}
DriverResult findFunction(DriverFunction *function, DriverModule, const char *name) {
  const std::string file(fileOfKernel(name));
  const EmulatedKernel *kernel = EmulatedModule::load(file.c_str())->find(name);
  *function = reinterpret_cast<DriverFunction>(const_cast<EmulatedKernel *>(kernel));
  return kernel ? 0 : kNotFound;
}

const Driver &driver() {
  static const Driver table = [] {
    emulated::world().checksOrder = false; // nobody says what launches touch
    Driver made = emulatedDriver();
    made.driverVersion = [](int *version) { return *version = 13000, 0; };
    made.pciBusId = [](char *id, int length, CardNumber card) {
      std::snprintf(id, size_t(length), "0000:%02x:00.0", unsigned(card));
      return 0;
    };
    made.loadModule = loadModule;
    made.unloadModule = unloadModule;
    made.function = findFunction;
    return made;
  }();
  return table;
}

} // namespace
} // namespace lstmc::cuda

// A symbol that dlsym() is asked for is what its resolver says.
#define LSTMC_RESOLVED(TABLE, FIELD, SYMBOL)                                                       \
  extern "C" void *lstmc_resolve_##TABLE##_##FIELD() {                                             \
    return (void *)(lstmc::cuda::TABLE().FIELD);                                                   \
  }                                                                                                \
  extern "C"                                                                                       \
      __attribute__((ifunc("lstmc_resolve_" #TABLE "_" #FIELD),                                    \
                     visibility("default"))) void lstmc_##TABLE##_##FIELD() __asm__(SYMBOL);

#define LSTMC_DRIVER(FIELD, SYMBOL, PARAMETERS) LSTMC_RESOLVED(driver, FIELD, SYMBOL)
#include "backends/cuda/runtime/Driver.def"

namespace lstmc::cuda {
static const CublasLt &products() { return **emulatedCublasLt(); }
static const Cudnn &layers() { return **emulatedCudnn(); }
static const Nccl &channels() { return **emulatedNccl(); }
} // namespace lstmc::cuda

#define LSTMC_CUBLASLT(RESULT, FIELD, SYMBOL, PARAMETERS) LSTMC_RESOLVED(products, FIELD, SYMBOL)
#include "backends/cuda/runtime/CublasLt.def"

#define LSTMC_CUDNN(RESULT, FIELD, SYMBOL, PARAMETERS) LSTMC_RESOLVED(layers, FIELD, SYMBOL)
#include "backends/cuda/runtime/Cudnn.def"

#define LSTMC_NCCL(RESULT, FIELD, SYMBOL, PARAMETERS) LSTMC_RESOLVED(channels, FIELD, SYMBOL)
#include "backends/cuda/runtime/Nccl.def"

/// What NVRTC asks a driver for, where there is one.
extern "C" __attribute__((visibility("default"))) int cuGetExportTable(const void **,
                                                                       const void *) {
  return lstmc::cuda::kNotFound;
}
