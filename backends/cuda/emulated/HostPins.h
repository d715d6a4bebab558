// Memory of the host that is registered with the emulated driver.
#pragma once

#include "backends/cuda/emulated/EmulatedCards.h"
#include "backends/cuda/runtime/Driver.h"

namespace lstmc::cuda::emulated {

/// Fills in the functions for it. What is registered twice, even in part, or was not registered is
/// refused, as by a real driver.
void addHostPins(Driver &driver);
/// Whether all of these bytes are registered.
bool isPinned(const void *memory, size_t bytes);
/// The context of a card ends, and what was registered in it.
void endHostPins(const Card &card);

} // namespace lstmc::cuda::emulated
