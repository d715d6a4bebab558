// The reference against itself: that the harness finds no difference where there is none, on any
// number of threads.
#include <gtest/gtest.h>

#include "backends/conformance/Conformance.h"
#include "executor/reference/Reference.h"

namespace lstmc::conformance {

static const Target kReference = hostTarget(
    "reference", [](KernelId id, std::span<const Tensor>) { return reference::kernel(id); });

LSTMC_CONFORMANCE(Reference, kReference);

} // namespace lstmc::conformance
