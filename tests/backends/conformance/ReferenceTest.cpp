// Compares the reference with itself: the harness has to find no difference, on any number of
// threads.
#include <gtest/gtest.h>

#include "backends/conformance/Conformance.h"
#include "executor/reference/Reference.h"

namespace lstmc::conformance {

static const Target kReference = hostTarget(
    "reference", [](KernelId id, std::span<const Tensor>) { return reference::kernel(id); });

LSTMC_CONFORMANCE(Reference, kReference);

} // namespace lstmc::conformance
