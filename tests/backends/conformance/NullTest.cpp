#include <gtest/gtest.h>

#include "backends/conformance/Conformance.h"
#include "backends/null/runtime/Null.h"

namespace lstmc::conformance {

static const Target kNull = hostTarget(
    "null", [](KernelId id, std::span<const Tensor>) { return null::kernel(id); },
    "backends/null/unsupported.txt");

LSTMC_CONFORMANCE(Null, kNull);

} // namespace lstmc::conformance
