// All functions of the driver, for a fake one: each is refused that FakeDriver.cpp does not answer.
#include "backends/cuda/runtime/Driver.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"
#define LSTMC_DRIVER(FIELD, SYMBOL, PARAMETERS)                                                    \
  [[gnu::weak, gnu::visibility("default")]] DriverResult FIELD PARAMETERS __asm__(SYMBOL);         \
  DriverResult FIELD PARAMETERS { return kNotSupported; }

namespace lstmc::cuda::fake {
constexpr DriverResult kNotSupported = 801;
#include "backends/cuda/runtime/Driver.def"
} // namespace lstmc::cuda::fake
