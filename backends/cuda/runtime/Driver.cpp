#include "backends/cuda/runtime/Driver.h"

#include <dlfcn.h>

#include "backends/cuda/text/LibraryPlaces.h"

namespace lstmc::cuda {

std::string Driver::textOf(DriverResult error) const {
  const char *name = nullptr, *text = nullptr;
  errorName(error, &name);
  errorText(error, &text);
  return fmt::format("{}: {}", name ? name : "an unknown error", text ? text : "no text");
}

Result<Driver> loadDriver(const char *library) {
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return fail(ErrorCode::E0501, "a GPU needs the NVIDIA driver: {} was not found {}: {}", library,
                systemPlaces(), dlerror());
  Driver driver;
  const char *missing = nullptr;
#define LSTMC_DRIVER(FIELD, SYMBOL, PARAMETERS)                                                    \
  driver.FIELD = reinterpret_cast<DriverResult(*) PARAMETERS>(dlsym(handle, SYMBOL));              \
  if (!driver.FIELD && !missing)                                                                   \
    missing = SYMBOL;
#include "backends/cuda/runtime/Driver.def"
  if (missing)
    return fail(ErrorCode::E0501, "{} has no function {}: the NVIDIA driver is too old", library,
                missing);
  if (DriverResult error = driver.init(0))
    return fail(ErrorCode::E0501, "{} was loaded, but there is no GPU to use: {}", library,
                driver.textOf(error));
  return driver;
}

Result<const Driver *> machineDriver() {
  static const Result<Driver> loaded = loadDriver("libcuda.so.1");
  if (!loaded.ok())
    return loaded.error();
  return &*loaded;
}

} // namespace lstmc::cuda
