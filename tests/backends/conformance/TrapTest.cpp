// The kernels of a cpu on memory that the host cannot see: checks that conformance does not use it.
#include <gtest/gtest.h>

#include "backends/conformance/Conformance.h"
#include "backends/registry/Devices.h"

namespace lstmc::conformance {

static const Target kTrap{"trap",
                          [](int threads) -> Result<std::unique_ptr<Device>> {
                            LSTMC_ASSIGN(auto devices, makeDevices("trap:0", {threads}));
                            return std::move(devices[0]);
                          },
                          "",
                          {1, 2}};

LSTMC_CONFORMANCE(Trap, kTrap);

} // namespace lstmc::conformance
